"""From the list of notifications to the acts on everything that matches its filter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from notifications.admin.ticked import WORDINGS
from notifications.status import Status
from notifications.story.acts import Deed

_NAMES = {
    "status": "status",
    "channel__exact": "channel",
    "client__id__exact": "client",
    "provider": "provider",
    "error_code": "error_code",
    "reference": "reference",
    "waiting_reason": "waiting_reason",
}
"""What the list calls what both can filter by, and what the page for acts on many calls it."""
_PLACES = ("p", "all")
"""Where in the list somebody is."""
_ACTS: Mapping[str, Sequence[tuple[str, str]]] = {
    "": [("Act on everything that matches…", "")],
    Status.PENDING: [("Cancel or reschedule everything that matches…", Deed.CANCEL)],
    Status.FAILED: [(WORDINGS[Deed.RETRY].on_all, Deed.RETRY)],
    Status.DEAD_LETTERED: [(WORDINGS[d].on_all, d) for d in (Deed.RETRY, Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED)],
}


def bulk_links(query: QueryDict, deeds: Collection[Deed]) -> list[tuple[str, str]]:
    """Label and address of the preview of each act on all that the list shows; none where that page could not mean the
    same, or nothing can be done.

    Args:
        deeds: no others than these.
    """
    given = {name: str(value).strip() for name, value in query.items() if value and name not in _PLACES}
    if not given.keys() <= _NAMES.keys():
        return []
    if "waiting_reason" in given:
        given.setdefault("status", Status.PENDING)  # nothing else waits
        if given["status"] != Status.PENDING:
            return []
    values = {_NAMES[known]: value for known, value in given.items()}
    acts = [(label, act) for label, act in _ACTS.get(given.get("status", ""), ()) if not act or act in deeds]
    return [(label, _address({"act": act, **values})) for label, act in acts]


def _address(values: Mapping[str, str]) -> str:
    return f"{reverse('admin:bulk-preview')}?{urlencode({name: value for name, value in values.items() if value})}"
