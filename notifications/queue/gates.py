"""Letting parked notifications through as slots of their limits become free."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models.functions import Now

from notifications.models import Notification
from notifications.status import Status
from notifyq.leasing import in_transaction_bounded, lock
from notifyq.runtime.wakeup import notify_after_commit
from ratelimits import ledger
from ratelimits.models import Gate
from ratelimits.window import Bucket, Limit, RuleBook, in_lock_order

GATES_AT_ONCE = 50
UNLIMITED_AT_ONCE = 1000
"""How many go through a gate at once whose limit has been taken away."""


def release_parked(default: Limit | None, *, gates_at_once: int = GATES_AT_ONCE) -> int:
    """One bounded pass over the gates that are due: through each go the best parked rows, as many as there are slots.

    A slot is reserved for each row that goes through, so that nobody who comes later takes it away.

    Args:
        default: the limit for whatever no rule names.

    Returns:
        How many rows went through.

    Transaction: one short one, none when no gate is due. Locks: buckets, then gates, then rows, passing over locked
    ones. Index: `notification_parked`. Safe with any number of callers at once.
    """
    seen = ledger.due_gates(gates_at_once)
    if not seen:
        return 0
    with in_transaction_bounded():
        book = ledger.rule_book(default)
        released = sum(_release_unlimited(gate) for gate in seen if _limit(book, gate) is None)
        released += _release_limited([_bucket(book, gate) for gate in seen if _limit(book, gate) is not None])
        if released:
            notify_after_commit()
    return released


def _limit(book: RuleBook, gate: Gate) -> Limit | None:
    return book.limit_of(gate.channel, gate.client_id)


def _bucket(book: RuleBook, gate: Gate) -> Bucket:
    limit = _limit(book, gate)
    assert limit is not None  # noqa: S101 (the caller has asked)
    return Bucket(gate.bucket, gate.channel, gate.client_id, limit)


def _release_limited(buckets: Sequence[Bucket]) -> int:
    """Others may have been here between the look at the gates and the locks: all is counted anew under the locks.
    Where somebody holds a bucket, they are doing this, or the gate is looked at again in the next pass."""
    ordered = ledger.try_lock(in_lock_order(buckets))
    if not ordered:
        return 0
    states = ledger.states(ordered)
    slots: list[tuple[UUID, UUID]] = []
    for bucket in ordered:
        slots += [(bucket.id, identity) for identity in _let_through(bucket.id, states[bucket.id].free_count)]
    ledger.reserve(slots)
    waiting = _with_parked([b.id for b in ordered])
    ledger.set_gates([b for b in ordered if b.id in waiting])
    ledger.remove_gates([b.id for b in ordered if b.id not in waiting])
    return len(slots)


def _release_unlimited(gate: Gate) -> int:
    through = _let_through(gate.bucket, UNLIMITED_AT_ONCE)
    if len(through) < UNLIMITED_AT_ONCE:
        ledger.remove_gates([gate.bucket])
    return len(through)


def _let_through(bucket_id: UUID, count: int) -> list[UUID]:
    if count <= 0:
        return []
    parked = Notification.objects.filter(status=Status.PENDING, parked_by=bucket_id)
    ids = [row[0] for row in lock(parked.order_by("priority", "due_at", "id"), ("id",), count)]
    Notification.objects.filter(id__any=ids).update(parked_by=None, waiting_reason="", updated_at=Now())
    return ids


def _with_parked(bucket_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the buckets that something still waits for; one index probe each."""
    return {b for b in bucket_ids if Notification.objects.filter(parked_by=b).exists()}
