"""Taking what is due, endpoint by endpoint, so that none stands behind another's backlog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import BooleanField, DateTimeField, ExpressionWrapper, Q, Value
from django.db.models.functions import Now

from notifyq.leasing import SecondsSince, in_transaction_bounded, lock, take
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.outcome import Standing
from webhooks.status import EventStatus

# Jumps through the claim index from endpoint to endpoint: its cost is the number of endpoints for which something
# waits, however much that is. Index: webhook_event_claim, two entries for each endpoint; the ORDER BY is the whole key
# of it, since by the endpoint alone the planner may take another index, and step over all that is finished.
_WAITING = """
WITH RECURSIVE waiting AS (
    (SELECT endpoint_id FROM webhooks_webhookevent WHERE status = 'PENDING' ORDER BY endpoint_id, due_at, id LIMIT 1)
    UNION ALL
    SELECT (SELECT e.endpoint_id FROM webhooks_webhookevent AS e
             WHERE e.status = 'PENDING' AND e.endpoint_id > w.endpoint_id
             ORDER BY e.endpoint_id, e.due_at, e.id LIMIT 1)
      FROM waiting AS w WHERE w.endpoint_id IS NOT NULL
)
SELECT w.endpoint_id, p.enabled, p.failing_since IS NOT NULL, extract(epoch FROM now() - head.due_at)::float8
  FROM waiting AS w
  JOIN webhooks_webhookendpoint AS p ON p.id = w.endpoint_id
 CROSS JOIN LATERAL (
       SELECT due_at FROM webhooks_webhookevent AS e
        WHERE e.status = 'PENDING' AND e.endpoint_id = w.endpoint_id ORDER BY due_at, id LIMIT 1) AS head
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An endpoint for which at least one event waits.

    Attributes:
        failing: its last answer was a failure.
        overdue_seconds: since its first event was due; negative while none is.
    """

    endpoint_id: UUID
    enabled: bool
    failing: bool
    overdue_seconds: float


@dataclass(slots=True)
class Claimed:
    """An event held under a lease, with all that a delivery needs.

    Attributes:
        token: the fencing token: whatever ends this lease has to match it.
        overdue_seconds: since it was due.
        secrets_encrypted: those valid now, the present one first.
        claimed_at_epoch_seconds: when it was claimed, by the database's clock.
    """

    id: UUID
    token: UUID
    endpoint_id: UUID
    url: str = field(repr=False)
    body: str = field(repr=False)
    cycle: int
    standing: Standing
    overdue_seconds: float
    secrets_encrypted: tuple[str, ...] = field(repr=False)
    claimed_at_epoch_seconds: float


def waiting_endpoints() -> list[Waiting]:
    """Every endpoint for which an event waits, due or not."""
    with in_transaction_bounded(), connection.cursor() as cursor:
        cursor.execute(_WAITING)
        return [Waiting(*row) for row in cursor.fetchall()]


def claim(
    shares: Mapping[UUID, int],
    *,
    worker_id: str,
    lease_seconds: float,
    max_attempts: int,
    due_before_seconds: float = 0.0,
) -> list[Claimed]:
    """Take due events of the given endpoints, of each the longest due.

    Args:
        shares: endpoint id → how many at most.
        max_attempts: after so many an event is given up.
        due_before_seconds: only what was due so many seconds ago.

    Returns:
        The rows, now PROCESSING with one more attempt counted. The transaction has committed. An endpoint that is
        disabled by now yields nothing.

    Transaction: one short one, READ COMMITTED. Locks: `notifyq.leasing.lock` on the rows returned.
    """
    with in_transaction_bounded():
        endpoints = _enabled(shares)
        rows = [row for key in endpoints for row in _lock_due(key, shares[key], due_before_seconds)]
        token = uuid4()
        if rows:
            take(
                WebhookEvent,
                [row[0] for row in rows],
                token=token,
                worker_id=worker_id,
                lease_seconds=lease_seconds,
                status=EventStatus.PROCESSING,
            )
    return [_claimed(row, token, endpoints[row[1]], max_attempts) for row in rows]


_EPOCH = Value(datetime(1970, 1, 1, tzinfo=UTC), output_field=DateTimeField())
_OVERLAPPING = ExpressionWrapper(
    ~Q(previous_secret_encrypted="") & Q(previous_expires_at__gt=Now()), output_field=BooleanField()
)
_HOT = ("id", "endpoint_id", "body", "cycle", "attempt_count", "suspect", "overdue_seconds")


@dataclass(frozen=True, slots=True)
class _Target:
    url: str
    secrets_encrypted: tuple[str, ...]
    now_epoch_seconds: float


def _enabled(shares: Mapping[UUID, int]) -> dict[UUID, _Target]:
    rows = WebhookEndpoint.objects.filter(id__any=list(shares), enabled=True)
    columns = ("pk", "url", "secret_encrypted", "previous_secret_encrypted", "overlapping", "epoch")
    annotated = rows.annotate(overlapping=_OVERLAPPING, epoch=SecondsSince(_EPOCH))
    return {
        pk: _Target(url, (present, previous) if overlapping else (present,), epoch)
        for pk, url, present, previous, overlapping, epoch in annotated.values_list(*columns)
    }


def _lock_due(endpoint_id: UUID, limit: int, due_before_seconds: float) -> list[tuple[Any, ...]]:
    """Reads the head of the claim index within one endpoint."""
    due = WebhookEvent.objects.filter(
        status=EventStatus.PENDING,
        endpoint_id=endpoint_id,
        due_at__lte=Now() - timedelta(seconds=due_before_seconds),
    )
    ordered = due.order_by("due_at", "id").annotate(overdue_seconds=SecondsSince("due_at"))
    return lock(ordered, _HOT, limit)


def _claimed(row: tuple[Any, ...], token: UUID, target: _Target, max_attempts: int) -> Claimed:
    identity, endpoint_id, body, cycle, attempt_count, suspect, overdue_seconds = row
    return Claimed(
        id=identity,
        token=token,
        endpoint_id=endpoint_id,
        url=target.url,
        body=body,
        cycle=cycle,
        standing=Standing(attempt_count + 1, max_attempts, suspect),
        overdue_seconds=overdue_seconds,
        secrets_encrypted=target.secrets_encrypted,
        claimed_at_epoch_seconds=target.now_epoch_seconds,
    )
