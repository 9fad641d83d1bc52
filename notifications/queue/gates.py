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
TAKEN_AWAY = Limit(1000, 0.0)
"""Stands for a limit that is no more: so many go through its gate at once."""


def release_parked(default: Limit | None, *, gates_at_once: int = GATES_AT_ONCE) -> int:
    """One bounded pass over the gates that are due: through each go the best parked rows, as many as there are slots.

    A slot is reserved for each row that goes through, so that nobody who comes later takes it away.

    Args:
        default: the limit for whatever no rule names.

    Returns:
        How many rows went through.

    Transaction: one short one, none when no gate is due. Locks: buckets, then rows, passing over locked ones of both.
    Index: `notification_parked`. Safe with any number of callers at once.
    """
    seen = ledger.due_gates(gates_at_once)
    if not seen:
        return 0
    with in_transaction_bounded():
        book = ledger.rule_book(default)
        released = _release([_bucket(book, gate) for gate in seen])
        if released:
            notify_after_commit()
    return released


def _bucket(book: RuleBook, gate: Gate) -> Bucket:
    limit = book.limit_of(gate.channel, gate.client_id)
    return Bucket(gate.bucket, gate.channel, gate.client_id, limit or TAKEN_AWAY)


def _release(buckets: Sequence[Bucket]) -> int:
    """Others may have been here between the look at the gates and the locks: all is counted anew under the locks.
    Where somebody holds a bucket, they are doing this, or the gate is looked at again in the next pass."""
    ordered = ledger.try_lock(in_lock_order(buckets))
    if not ordered:
        return 0
    states = ledger.states(ordered)
    through = {b: _let_through(b.id, states[b.id].free_count) for b in ordered}
    ledger.reserve([(b.id, identity) for b, ids in through.items() if b.limit is not TAKEN_AWAY for identity in ids])
    waiting = _with_parked([b.id for b in ordered])
    ledger.set_gates([b for b in ordered if b.id in waiting])
    ledger.remove_gates([b.id for b in ordered if b.id not in waiting])
    return sum(map(len, through.values()))


def _let_through(bucket_id: UUID, count: int) -> list[UUID]:
    if count <= 0:
        return []
    parked = Notification.objects.filter(status=Status.PENDING, parked_by=bucket_id)
    ids = [row[0] for row in lock(parked.order_by("rank", "due_at", "id"), ("id",), count)]
    Notification.objects.filter(id__any=ids).update(parked_by=None, waiting_reason="", updated_at=Now())
    return ids


def _with_parked(bucket_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the buckets that something still waits for; one index probe each."""
    return {b for b in bucket_ids if Notification.objects.filter(parked_by=b).exists()}
