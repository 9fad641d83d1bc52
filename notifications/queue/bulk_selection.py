"""What a bulk act is meant for: its filter, as the rows that match it, and as it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from notifications.channel import Channel
from notifications.models import BulkAction, Client, Notification
from notifications.outcome import UNCONFIRMED
from notifications.queue.bulk_kinds import plain_fields
from notifications.queue.retry import IN_TIME, MAY_HAVE_BEEN_SENT
from notifications.status import Status, WaitingReason
from notifications.waiting import waits_for

OUTCOMES = {BulkAction.RESOLVE_SENT: Status.SENT, BulkAction.RESOLVE_FAILED: Status.FAILED}
"""What each way of resolving makes of a notification."""
WAITS = (BulkAction.CANCEL, BulkAction.RESCHEDULE)
"""The acts on what waits; the others are on what has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSelection:
    """Which notifications, and what to do with them; None means any.

    Attributes:
        status: one that the act can begin from.
        provider: the one of the last attempt.
        after, before: inclusive and exclusive; of the creation of what waits, of the end of what has ended.
        waiting_reason: of what waits, the reason it has at the moment it is looked at.
        include_unsure: for a retry, also those that may have been sent.
        send_at: for a reschedule, the new time.
    """

    action: BulkAction
    status: Status
    channel: Channel | None = None
    provider: str | None = None
    error_code: str | None = None
    client_id: UUID | None = None
    recipient: str | None = None
    reference: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    waiting_reason: WaitingReason | None = None
    include_unsure: bool = False
    send_at: datetime | None = None

    @property
    def instant_column(self) -> str:
        """What `after`, `before` and the cutoff are compared with."""
        return "created_at" if self.action in WAITS else "finished_at"

    @property
    def keys(self) -> tuple[str, ...]:
        """The order in which the act goes through its rows: that of `notification_waiting` or
        `notification_undelivered`."""
        return ("id",) if self.action in WAITS else ("finished_at", "id")

    def as_json(self) -> dict[str, Any]:
        """Only what is asked for, in types that JSON has."""
        return plain_fields(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> BulkSelection:
        """What `as_json` wrote."""
        return cls(**{name: _READERS.get(name, str)(value) for name, value in stored.items()})


_READERS: dict[str, Callable[[Any], Any]] = {
    "action": BulkAction,
    "status": Status,
    "channel": Channel,
    "client_id": UUID,
    "waiting_reason": WaitingReason,
    "after": datetime.fromisoformat,
    "before": datetime.fromisoformat,
    "send_at": datetime.fromisoformat,
    "include_unsure": bool,
}
"""What is no text; the rest is."""
_NONE = Q(pk__in=[])


def matching(selection: BulkSelection, cutoff: datetime) -> QuerySet[Notification]:
    """All that the filter names and that matched before the cutoff, whether or not they can be acted on. With a reason
    of waiting it asks what is out of use, and is good for the present moment only."""
    until = min(cutoff, selection.before) if selection.before else cutoff
    rows = Notification.objects.filter(**_conditions(selection), **{f"{selection.instant_column}__lt": until})
    if selection.waiting_reason is not None:
        rows = rows.filter(waits_for(selection.waiting_reason))
    if selection.reference is not None:
        rows = rows.exclude(reference="")  # the index holds no empty one
    if selection.client_id is None and (selection.recipient or selection.reference):
        # Both indexes begin with the client, of whom there are few: naming them all makes them usable.
        rows = rows.filter(client__in=list(Client.objects.values_list("pk", flat=True)))
    return rows


def actionable(selection: BulkSelection) -> Q:
    """Which of the matching ones can be acted on now."""
    if selection.action in OUTCOMES:
        return MAY_HAVE_BEEN_SENT
    certain = ~left_as_unsure(selection)
    if selection.action is BulkAction.RETRY:
        return IN_TIME & certain
    if selection.action is BulkAction.CANCEL:
        return certain
    in_time = Q(expires_at__isnull=True) | Q(expires_at__gt=selection.send_at)
    return certain & in_time & ~Q(send_at=selection.send_at)  # not those again that a pass before has moved


def left_as_unsure(selection: BulkSelection) -> Q:
    """Which of the matching ones are left alone because they may have been sent."""
    if selection.action in WAITS:
        return ~Q(unconfirmed_provider="")
    asked_for = selection.action in OUTCOMES or selection.include_unsure or selection.error_code == UNCONFIRMED
    return _NONE if asked_for else MAY_HAVE_BEEN_SENT


def left_as_known(selection: BulkSelection) -> Q:
    """Which of the matching ones are left alone because it is known what became of them: nobody has to say so."""
    return ~MAY_HAVE_BEEN_SENT if selection.action in OUTCOMES else _NONE


def _conditions(selection: BulkSelection) -> dict[str, Any]:
    conditions = {
        "status": selection.status,
        "channel": selection.channel,
        "last_used_provider": selection.provider,
        "last_error_code": selection.error_code,
        "client": selection.client_id,
        "recipient": selection.recipient,
        "reference": selection.reference,
        f"{selection.instant_column}__gte": selection.after,
    }
    return {name: value for name, value in conditions.items() if value is not None}
