"""The bar of acts above a list on which rows can be ticked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from notifications.admin.ticked.origin import WORDINGS, Origin
from notifications.story.acts import Deed
from notifyq.roles import OPERATE


def offer(
    request: HttpRequest,
    origin: Origin,
    *,
    query: str,
    bulk: Sequence[tuple[str, str]],
    deeds: Sequence[Deed] | None = None,
) -> dict[str, Any] | None:
    """What `console/_ticked_bar.html` shows; None for those who may not act, and where nothing can be done.

    Args:
        query: of the list's address, to come back to.
        bulk: (label, address) of each act on everything that matches.
        deeds: those that make sense in this list; None for all that it offers.
    """
    offered = [deed for deed in origin.deeds if deeds is None or deed in deeds]
    if not offered or not request.user.has_perm(OPERATE):
        return None
    return {
        "address": origin.act_address,
        "back": query,
        "acts": [(deed.value, WORDINGS[deed].verb) for deed in offered],
        "bulk": bulk,
    }
