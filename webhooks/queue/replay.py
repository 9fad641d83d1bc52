"""Sending again what was finished."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Least, Now

from notifications.queue import Act
from notifyq.leasing import in_transaction_bounded
from webhooks.models import WebhookEvent
from webhooks.queue.redeliveries import record
from webhooks.queue.wake import wake_dispatchers_after_commit
from webhooks.status import EventStatus

LIMIT = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_MOST = (1 << 48) - 1


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many events were queued again, and where to go on: None when that was all."""

    count: int
    next_since: datetime | None


def replay(
    endpoint_id: UUID,
    *,
    since: datetime,
    until: datetime,
    statuses: Collection[EventStatus],
    limit: int = LIMIT,
) -> Replayed:
    """Queue the finished events of an endpoint again, the oldest first, each with its id and body as they were.

    Args:
        since, until: by the events' creation; the first inclusive, the second exclusive.
        statuses: final ones.

    Returns:
        At most `limit` of them. What waits or is on its way is left as it is.

    Transaction: one short one. Index: `webhook_event_endpoint`, from the first id that can lie in the range.
    """
    with in_transaction_bounded():
        found = _in_range(endpoint_id, since, until).filter(status__in=list(statuses))
        # The keys first: PostgreSQL may run a locking sub-select of an UPDATE again for each row.
        picked = found.order_by("id").values_list("pk", "created_at")[: limit + 1]
        rows = list(picked)
        count = begin_anew(WebhookEvent.objects.filter(id__any=[pk for pk, _ in rows[:limit]]))
    return Replayed(count, rows[limit][1] if len(rows) > limit else None)


@dataclass(frozen=True, slots=True)
class Seen:
    """How an event stood when somebody looked at it: each call and each replay makes it another."""

    cycle: int
    status: str
    attempt_count: int


def requeue(event_id: UUID, seen: Seen | None = None, act: Act | None = None) -> bool:
    """Have one event delivered now: a finished one from the start, a waiting one before its time.

    Args:
        seen: only if it still stands like this; None however it stands.
        act: whose it is, for the record; None records nothing.

    Returns:
        False when it is on its way at this moment, not as it was seen, or gone.

    Transaction: one short one. Locks: the row; waits for whoever else is changing it.
    """
    rows = WebhookEvent.objects.filter(pk=event_id, **({} if seen is None else asdict(seen)))
    with in_transaction_bounded():
        status = rows.select_for_update(no_key=True).values_list("status", flat=True).first()
        if status is None or status == EventStatus.PROCESSING:
            return False
        if status == EventStatus.PENDING:
            hasten(rows)
        else:
            begin_anew(rows)
        record(act, [(event_id, status)])
    return True


def hasten(rows: QuerySet[WebhookEvent]) -> None:
    """Those of the rows that are PENDING are due now, with what was tried as it is. One that is due keeps its place.

    Transaction: the caller's.
    """
    if rows.filter(status=EventStatus.PENDING).update(due_at=Least("due_at", Now())):
        wake_dispatchers_after_commit()


def begin_anew(rows: QuerySet[WebhookEvent]) -> int:
    """Those of the rows that are finished → PENDING, due now. One conditional update: of two callers at once, one finds
    nothing left to do.

    Transaction: the caller's.
    """
    count = rows.filter(finished_at__isnull=False).update(
        status=EventStatus.PENDING,
        due_at=Now(),
        attempt_count=0,
        cycle=F("cycle") + 1,
        suspect=False,
        finished_at=None,
    )
    if count:
        wake_dispatchers_after_commit()
    return count


def _in_range(endpoint_id: UUID, since: datetime, until: datetime) -> QuerySet[WebhookEvent]:
    """The ids begin with the time too, never earlier than `created_at`, which spares reading what is older."""
    return WebhookEvent.objects.filter(
        endpoint_id=endpoint_id, pk__gte=first_id(since), created_at__gte=since, created_at__lt=until
    )


def first_id(moment: datetime) -> UUID:
    """The least version 7 UUID of that millisecond (less a minute: the clocks of our own ids may differ)."""
    milliseconds = (moment - _EPOCH - timedelta(minutes=1)) // timedelta(milliseconds=1)
    return UUID(int=min(max(milliseconds, 0), _MILLISECONDS_MOST) << 80)
