"""Which webhook events a bulk act is meant for: its filter, as the rows that match it, and as it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from notifications.models import BulkAction
from notifications.queue.bulk_kinds import plain_fields
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.queue.replay import first_id
from webhooks.status import FINAL, EventStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSelection:
    """Which events are delivered again; None means any.

    Attributes:
        status: a final one, or PENDING for those that wait for a later try; None means whatever is finished.
        type: such as `notification.failed`.
        after, before: of the creation, inclusive and exclusive.
    """

    status: EventStatus | None = EventStatus.FAILED
    endpoint_id: UUID | None = None
    client_id: UUID | None = None
    type: str | None = None
    error_code: str | None = None
    after: datetime | None = None
    before: datetime | None = None

    @property
    def action(self) -> str:
        return BulkAction.REDELIVER.value

    def as_json(self) -> dict[str, Any]:
        """Only what is asked for, in types that JSON has."""
        return plain_fields(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> EventSelection:
        """What `as_json` wrote."""
        values = {name: _READERS.get(name, str)(value) for name, value in stored.items()}
        return cls(**{"status": None} | values)


_READERS: dict[str, Callable[[Any], Any]] = {
    "status": EventStatus,
    "endpoint_id": UUID,
    "client_id": UUID,
    "after": datetime.fromisoformat,
    "before": datetime.fromisoformat,
}
"""What is no text; the rest is."""


def matching(selection: EventSelection, cutoff: datetime) -> QuerySet[WebhookEvent]:
    """All that the filter names and that had finished before the cutoff (or were there and wait for a later try),
    whether or not their endpoint takes any."""
    conditions = {
        "type": selection.type,
        "last_error_code": selection.error_code,
        "created_at__gte": selection.after,
        "created_at__lt": selection.before,
    }
    given = {name: value for name, value in conditions.items() if value is not None}
    rows = in_order(selection).filter(**still(selection, cutoff)).filter(**given)
    if selection.client_id is None:
        return rows
    # Their ids rather than a join: a client has at most a handful, and the rows are read in the order of an index.
    return rows.filter(endpoint__in=_endpoints(client=selection.client_id))


def to_look_at(selection: EventSelection, cutoff: datetime) -> QuerySet[WebhookEvent]:
    """The same, for looking at all of it at once: of what waits, `webhook_event_claim` has nothing else."""
    rows = matching(selection, cutoff)
    return rows.filter(status=EventStatus.PENDING) if selection.status is EventStatus.PENDING else rows


def of_closed() -> Q:
    """The events of endpoints that are disabled or deleted and take none: they are left, as is one by itself."""
    return Q(endpoint__in=_endpoints(enabled=False))


def still(selection: EventSelection, cutoff: datetime) -> dict[str, Any]:
    """What may have changed since a row was found. One that has failed again since then finished after the cutoff; of
    those that wait, the walk itself leaves the ones that it has hastened."""
    if selection.status is EventStatus.PENDING:
        # By the table's checks this is PENDING. Said so, the planner would fetch and sort all of `webhook_event_claim`
        # for each batch, instead of reading on in the order of the ids.
        pending = {"finished_at__isnull": True, "lease_expires_at__isnull": True}
        return pending | {"due_at__gt": Now(), "created_at__lt": cutoff}
    statuses = [selection.status] if selection.status else sorted(FINAL)
    return {"status__in": statuses, "finished_at__lt": cutoff}


def in_order(selection: EventSelection) -> QuerySet[WebhookEvent]:
    """What a walk goes through: of one endpoint by `webhook_event_endpoint`, else by the primary key; from the first
    id that can lie in the window on."""
    rows = WebhookEvent.objects.order_by("id")
    if selection.endpoint_id is not None:
        rows = rows.filter(endpoint=selection.endpoint_id)
    return rows if selection.after is None else rows.filter(pk__gte=first_id(selection.after))


def _endpoints(**conditions: Any) -> list[UUID]:
    return list(WebhookEndpoint.objects.filter(**conditions).values_list("pk", flat=True))
