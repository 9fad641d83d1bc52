"""What a bulk act is meant for: its filter, as the rows that match it, and as it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from notifications.channel import Channel
from notifications.models import Action, Client, Notification
from notifications.outcome import UNCONFIRMED
from notifications.queue.bulk_kinds import plain_fields
from notifications.queue.retry import IN_TIME, MAY_HAVE_BEEN_SENT
from notifications.status import Status

KEYS = {
    Action.RETRY: ("finished_at", "id"),
    Action.CANCEL: ("id",),
    Action.RESCHEDULE: ("id",),
}
"""The order in which an act goes through its rows: that of `notification_undelivered` and of `notification_waiting`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSelection:
    """Which notifications, and what to do with them; None means any.

    Attributes:
        status: one that the act can begin from.
        provider: the one of the last attempt.
        after, before: inclusive and exclusive; of the end for a retry, of the creation otherwise.
        include_unsure: for a retry, also those that may have been sent.
        send_at: for a reschedule, the new time.
    """

    action: Action
    status: Status
    channel: Channel | None = None
    provider: str | None = None
    error_code: str | None = None
    client_id: UUID | None = None
    recipient: str | None = None
    reference: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    include_unsure: bool = False
    send_at: datetime | None = None

    @property
    def instant_column(self) -> str:
        """What `after`, `before` and the cutoff are compared with."""
        return "finished_at" if self.action is Action.RETRY else "created_at"

    def as_json(self) -> dict[str, Any]:
        """Only what is asked for, in types that JSON has."""
        return plain_fields(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> BulkSelection:
        """What `as_json` wrote."""
        return cls(**{name: _READERS.get(name, str)(value) for name, value in stored.items()})


_READERS: dict[str, Callable[[Any], Any]] = {
    "action": Action,
    "status": Status,
    "channel": Channel,
    "client_id": UUID,
    "after": datetime.fromisoformat,
    "before": datetime.fromisoformat,
    "send_at": datetime.fromisoformat,
    "include_unsure": bool,
}
"""What is no text; the rest is."""


def matching(selection: BulkSelection, cutoff: datetime) -> QuerySet[Notification]:
    """All that the filter names and that matched before the cutoff, whether or not they can be acted on."""
    until = min(cutoff, selection.before) if selection.before else cutoff
    rows = Notification.objects.filter(**_conditions(selection), **{f"{selection.instant_column}__lt": until})
    if selection.reference is not None:
        rows = rows.exclude(reference="")  # the index holds no empty one
    if selection.client_id is None and (selection.recipient or selection.reference):
        # Both indexes begin with the client, of whom there are few: naming them all makes them usable.
        rows = rows.filter(client__in=list(Client.objects.values_list("pk", flat=True)))
    return rows


def actionable(selection: BulkSelection) -> Q:
    """Which of the matching ones can be acted on now."""
    certain = ~left_as_unsure(selection)
    if selection.action is Action.RETRY:
        return IN_TIME & certain
    if selection.action is Action.CANCEL:
        return certain
    in_time = Q(expires_at__isnull=True) | Q(expires_at__gt=selection.send_at)
    return certain & in_time & ~Q(send_at=selection.send_at)  # not those again that a pass before has moved


def left_as_unsure(selection: BulkSelection) -> Q:
    """Which of the matching ones are left alone because they may have been sent."""
    if selection.action is not Action.RETRY:
        return ~Q(unconfirmed_provider="")
    asked_for = selection.include_unsure or selection.error_code == UNCONFIRMED
    return Q(pk__in=[]) if asked_for else MAY_HAVE_BEEN_SENT


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
