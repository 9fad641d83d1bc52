"""The filter of a bulk act on notifications: as it is typed, and in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from notifications import services
from notifications.admin.bulk_kinds import Described
from notifications.admin.bulk_words import WORDS, name_of
from notifications.channel import Channel
from notifications.errors import FieldError, InvalidRequest
from notifications.models import BULK_ACTIONS, Client
from notifications.services import BulkSelection
from notifications.status import Status, WaitingReason
from notifyq.console import instant, masked, sealed, shortened

NAMES = (
    *("act", "status", "channel", "provider", "error_code", "client", "recipient", "reference", "after", "before"),
    *("waiting_reason", "send_at", "unsure"),
)
SUBJECTS = {
    "act": "“Act”",
    "status": "For this act “Status”",
    "channel": "“Channel”",
    "client": "“Client”",
    "waiting_reason": "For this act “Waiting reason”",
    "provider": "“Provider”",
    "error_code": "“Error code”",
    "recipient": "“Recipient”",
    "reference": "“Reference”",
    "after": "“From”",
    "before": "“Before”",
    "send_at": "“New send time”",
    "reason": "The reason",
    "rate": "“At most so many a second”",
}
"""What sentences call the fields, in the order of the page."""
STATUSES = (Status.DEAD_LETTERED, Status.FAILED, Status.PENDING)
_ENDED = {"RETRY": "failed", "RESOLVE_SENT": "ended", "RESOLVE_FAILED": "ended"}
_PICKED = re.compile(r"(?:(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.0+)?(?:Z|\+00:00)?)?)?", re.ASCII)


def pickers(values: Mapping[str, str], names: Iterable[str]) -> dict[str, str | None]:
    """The instants of these names as the browser's picker takes them, which knows whole seconds and no zones; None
    for what it could not show, which stays text."""
    return {name: _picked(values[name]) for name in names}


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


def read(values: Mapping[str, str]) -> BulkSelection:
    """The filter that the fields stand for.

    Raises:
        InvalidRequest: with all that is wrong, a recipient that nobody can open among it.
    """
    try:
        recipient = sealed.opened(values["recipient"])
    except sealed.Unopened:  # never the same as any recipient
        raise InvalidRequest([FieldError("recipient", "unreadable", sealed.UNREADABLE)]) from None
    return services.read_bulk({**values, "recipient": recipient})


def shown(values: Mapping[str, str], *, may_see: bool) -> dict[str, str]:
    """The fields as the form has them. The recipient stays sealed for those who may not see it, and is empty when it
    cannot be opened: it is to be typed again."""
    try:
        recipient = sealed.opened(values["recipient"])
    except sealed.Unopened:
        recipient = ""
    return {**values, "recipient": recipient if may_see else sealed.seal(recipient)}


def choices(values: Mapping[str, str]) -> dict[str, Any]:
    """What the fields with fixed answers offer, and what the pickers show."""
    return {
        "pickers": pickers(values, ("after", "before", "send_at")),
        "acts": [(name_of(action), WORDS[action].verb) for action in BULK_ACTIONS],
        "act": values["act"].lower().replace("_", "-"),
        "statuses": [status.value for status in STATUSES],
        "channels": [channel.value for channel in Channel],
        "clients": client_choices(),
        "waiting_reasons": [reason.value for reason in WaitingReason],
    }


def client_choices() -> list[tuple[str, str]]:
    """All clients, by name."""
    return [(str(pk), name) for pk, name in Client.objects.order_by("name").values_list("pk", "name")]


def describe(selections: Sequence[Mapping[str, Any]], may_see: bool) -> list[Described]:
    """Stored filters in words."""
    names = client_names(selections)
    return [list(described(selection, may_see=may_see, clients=names)) for selection in selections]


def described(selection: Mapping[str, Any], *, may_see: bool, clients: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """A stored filter as (what, value) in words.

    Args:
        may_see: recipients and references in the clear.
        clients: names by id.
    """
    ended = _ENDED.get(selection["action"], "created")
    yield "status", selection["status"]
    for name in ("channel", "provider", "error_code"):
        if name in selection:
            yield name.replace("_", " "), selection[name]
    if "waiting_reason" in selection:
        yield "waits for", selection["waiting_reason"]
    if "reference" in selection:
        yield "reference", selection["reference"] if may_see else shortened(selection["reference"])
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
