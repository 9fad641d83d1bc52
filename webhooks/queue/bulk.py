"""Having all that matches delivered again: a look at it, and one batch of it, for a bulk act like any other."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from notifications.queue import Act, Batch, Place, given_up_after
from notifyq.leasing import lock
from webhooks.models import Redelivery, WebhookEvent
from webhooks.queue.bulk_selection import EventSelection, in_order, matching, of_closed, still, to_look_at
from webhooks.queue.redeliveries import record
from webhooks.queue.replay import begin_anew, hasten
from webhooks.status import EventStatus

WINDOW = 20_000
"""How many entries of the index one batch looks through: a filter that fits few rows must not hold up a worker."""
COUNT_SECONDS = 5.0
"""How long the count may take: exact or not at all."""


@dataclass(frozen=True, slots=True)
class EventCount:
    """How many match, exactly.

    Attributes:
        actionable: what would be delivered again; the others belong to an endpoint that is disabled or deleted.
        delivered: those of them that their receiver has had already.
    """

    total: int
    actionable: int
    delivered: int

    @property
    def closed(self) -> int:
        return self.total - self.actionable


def count_redeliverable(
    selection: EventSelection, cutoff: datetime, seconds: float = COUNT_SECONDS
) -> EventCount | None:
    """Count what matches; None when that was not possible in so many seconds.

    Transaction: one short one.
    """
    is_open = ~of_closed()
    with given_up_after(seconds) as outcome:
        counts = (
            to_look_at(selection, cutoff)
            .order_by()
            .aggregate(
                total=Count("pk"),
                actionable=Count("pk", filter=is_open),
                delivered=Count("pk", filter=is_open & Q(status=EventStatus.DELIVERED)),
            )
        )
        outcome.append(EventCount(**counts))
    return outcome[0] if outcome else None


def sample_redeliverable(
    selection: EventSelection, cutoff: datetime, size: int, seconds: float = COUNT_SECONDS
) -> list[WebhookEvent] | None:
    """The first of those that would be delivered again, with their endpoints; None when that took too long."""
    rows = to_look_at(selection, cutoff).exclude(of_closed()).select_related("endpoint__client").defer("body")
    with given_up_after(seconds) as outcome:
        outcome.append(list(rows[:size]))
    return outcome[0] if outcome else None


def walk(stored: dict[str, Any], cutoff: datetime, place: Place | None, limit: int, act: Act) -> Batch:
    """Have up to `limit` events behind `place` delivered again, each with its id and body as they were; recorded. Those
    that wait for a later try are due now.

    Those that others hold are passed over and not waited for; those of an endpoint that is disabled are left.

    Args:
        stored: an `EventSelection` as it is stored.

    Transaction: the caller's. Index: `webhook_event_endpoint` or the primary key, WINDOW entries of it.
    Locks: the events that are acted on.
    """
    selection = EventSelection.from_json(stored)
    rows, closed = matching(selection, cutoff), of_closed()
    window_end = _window_end(selection, place)
    window = _between(rows, place, window_end)
    found = list(window.exclude(closed).values_list("id", flat=True)[:limit])
    end = found[-1] if len(found) == limit else window_end
    skipped = _between(rows, place, end).filter(closed).order_by().count()
    if selection.status is EventStatus.PENDING:
        found = _not_hastened(found, act)
    # What is queued for an endpoint that is disabled at this moment is cancelled by the dispatchers, as always.
    held = WebhookEvent.objects.filter(id__any=found, **still(selection, cutoff))
    before = lock(held, ("id", "status"), limit) if found else []
    if before:
        again = hasten if selection.status is EventStatus.PENDING else begin_anew
        again(WebhookEvent.objects.filter(id__any=[identity for identity, _ in before]))
        record(act, before)
    return Batch(len(before), skipped, len(found) - len(before), Place(None, end) if end else None)


def _not_hastened(found: Collection[UUID], act: Act) -> list[UUID]:
    """Without those that the same act was done to: they were tried, failed and wait again. Their record tells."""
    own = Redelivery.objects.filter(event__in=found, details__bulkAct=act.details["bulkAct"])
    done = set(own.values_list("event_id", flat=True))
    return [identity for identity in found if identity not in done]


def _window_end(selection: EventSelection, place: Place | None) -> UUID | None:
    """The last event of the window; None when there are no more. An index-only look."""
    return _between(in_order(selection), place, None).values_list("id", flat=True)[WINDOW - 1 : WINDOW].first()


def _between(rows: QuerySet[WebhookEvent], place: Place | None, end: UUID | None) -> QuerySet[WebhookEvent]:
    if place is not None:
        rows = rows.filter(id__gt=place.id)
    return rows if end is None else rows.filter(id__lte=end)
