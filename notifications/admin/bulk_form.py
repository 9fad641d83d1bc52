"""The forms of a bulk act: the filter as it is typed, and what is confirmed, sealed against change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.core import signing

from notifications.channel import Channel
from notifications.models import BULK_ACTIONS, Client
from notifications.services import BulkPreview, BulkSelection
from notifications.status import Status
from notifyq.console import instant, masked

NAMES = (
    *("act", "status", "channel", "provider", "error_code", "client", "recipient", "reference", "after", "before"),
    *("send_at", "unsure"),
)
STATUSES = (Status.DEAD_LETTERED, Status.FAILED, Status.PENDING)
OLD_SECONDS = 3600
"""A preview is confirmed within an hour: after that it says too little about what is there."""
_SALT = "notifications.bulk"
_PICKED = re.compile(r"(?:(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.0+)?(?:Z|\+00:00)?)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What somebody was shown and may confirm. The id goes with the form: a form begins one act, however often it is
    sent."""

    form_id: UUID
    selection: BulkSelection
    cutoff: datetime
    count: int | None

    @classmethod
    def of(cls, preview: BulkPreview, form_id: UUID | None = None) -> Confirmation:
        count = None if preview.count is None else preview.count.actionable
        return cls(form_id or uuid4(), preview.selection, preview.cutoff, count)

    def sealed(self) -> str:
        """For a hidden field."""
        stored = {
            "form": str(self.form_id),
            "selection": self.selection.as_json(),
            "cutoff": self.cutoff.isoformat(),
            "count": self.count,
        }
        return signing.dumps(stored, salt=_SALT, compress=True)


def opened(sealed: str) -> Confirmation | None:
    """What `sealed` made; None when it is not that, or an hour old."""
    try:
        stored = signing.loads(sealed, salt=_SALT, max_age=OLD_SECONDS)
    except signing.BadSignature:
        return None
    return Confirmation(
        UUID(stored["form"]),
        BulkSelection.from_json(stored["selection"]),
        datetime.fromisoformat(stored["cutoff"]),
        stored["count"],
    )


def pickers(values: Mapping[str, str]) -> dict[str, str | None]:
    """The instants among the values as the browser's picker takes them, which knows whole seconds and no zones; None
    for what it could not show, which stays text."""
    return {name: _picked(values[name]) for name in ("after", "before", "send_at")}


def _picked(text: str) -> str | None:
    match = _PICKED.fullmatch(text)
    if match is None:
        return None
    return f"{match[1]}T{match[2] or '00:00'}" if match[1] else ""


def values_of(given: Mapping[str, str]) -> dict[str, str]:
    """The filter's fields, empty where nothing was given."""
    return {name: given.get(name, "").strip() for name in NAMES}


def values_from(selection: BulkSelection) -> dict[str, str]:
    """The same, of a filter that was read before."""
    stored = selection.as_json()
    stored |= {"act": stored.pop("action"), "client": stored.get("client_id", ""), "unsure": selection.include_unsure}
    return {name: str(stored.get(name) or "") for name in NAMES}


def choices(values: Mapping[str, str]) -> dict[str, Any]:
    """What the fields with fixed answers offer, and what the pickers show."""
    return {
        "pickers": pickers(values),
        "acts": [(action.value, action.value.capitalize()) for action in BULK_ACTIONS],
        "statuses": [status.value for status in STATUSES],
        "channels": [channel.value for channel in Channel],
        "clients": [(str(pk), name) for pk, name in Client.objects.order_by("name").values_list("pk", "name")],
    }


def described(selection: Mapping[str, Any], *, may_see: bool, clients: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """A stored filter as (what, value) in words.

    Args:
        may_see: recipients in the clear.
        clients: names by id.
    """
    ended = "failed" if selection["action"] == "RETRY" else "created"
    yield "status", selection["status"]
    for name in ("channel", "provider", "error_code", "reference"):
        if name in selection:
            yield name.replace("_", " "), selection[name]
    if "client_id" in selection:
        yield "client", clients.get(selection["client_id"], selection["client_id"])
    if "recipient" in selection:
        yield "recipient", selection["recipient"] if may_see else masked(selection["recipient"])
    for name, word in (("after", f"{ended} from"), ("before", f"{ended} before"), ("send_at", "new send time")):
        if name in selection:
            yield word, instant(datetime.fromisoformat(selection[name]))
    if selection.get("include_unsure"):
        yield "also", "those that may have been sent"


def client_names(selections: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The names of the clients that stored filters name, by id."""
    ids = {selection["client_id"] for selection in selections if "client_id" in selection}
    return {str(pk): name for pk, name in Client.objects.filter(pk__in=ids).values_list("pk", "name")} if ids else {}
