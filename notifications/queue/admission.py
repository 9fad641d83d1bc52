"""The rate limit at the claim: who of those locked may be sent to now; the rest is parked out of the claim's way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from notifications.channel import UNLIMITED
from notifications.models import Notification
from notifications.queue.behind import lock_waiting
from notifications.status import WaitingReason
from notifyq.leasing import Arrays
from ratelimits import ledger
from ratelimits.window import Bucket, Limit, RuleBook, in_lock_order

Row = Mapping[str, Any]

PARK_LIMIT = 2000
"""So many are parked at once beside those that a claim has met, which takes about a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a claim has to know of the rate limits.

    Attributes:
        default: for whatever no rule names; None for none.
        slot_seconds: from a claim to the last instant at which its sends may happen. The worker gives back what it
            could only begin too late for that.
    """

    default: Limit | None
    slot_seconds: float


@dataclass(slots=True)
class _Sorting:
    """Rows of one claim, sorted: those let through, in order, of which some use a free slot and some have one of their
    own; and those to be parked. Those of a bucket that is not held are in none: they are left for another claim."""

    through: list[Row] = field(default_factory=list)
    used: list[tuple[UUID, UUID]] = field(default_factory=list)
    reserved: list[UUID] = field(default_factory=list)
    parked: list[tuple[Row, Bucket]] = field(default_factory=list)


def admit(rows: Sequence[Row], token: UUID, limits: Limits) -> tuple[list[Row], int]:
    """Let through, in order, what the limits allow now, count it, and park the rest behind its gate, together with
    what else waits for the same recipients.

    Args:
        rows: `id, client_id, channel, recipient` and more by name, locked in the present transaction, best first.
        token: of the claim that is being made.

    Returns:
        The rows let through, and how many were parked.

    Locks: the buckets' advisory locks, in their order, until the transaction ends.
    """
    if all(row["channel"] in UNLIMITED for row in rows):
        return list(rows), 0
    book = ledger.rule_book(limits.default)
    buckets = [_bucket(row, book) for row in rows]
    limited = [bucket for bucket in buckets if bucket is not None]
    if not limited:
        return list(rows), 0
    states = ledger.states(ledger.lock(in_lock_order(limited)))
    sorting = _sort(rows, buckets, states)
    ledger.use(sorting.used, token, limits.slot_seconds)
    if sorting.reserved:
        ledger.use_reserved(sorting.reserved, token, limits.slot_seconds)
    if not sorting.parked:
        return sorting.through, 0
    reserved = {identity for state in states.values() for identity in state.reserved}
    return sorting.through, _park(sorting.parked, reserved.union(row["id"] for row in rows))


def give_back_slots(holds: Sequence[tuple[UUID, UUID]]) -> None:
    """Return what sends that certainly did not happen took of their limits, by (id, token)."""
    if holds:
        ledger.give_back(holds)


def drop_reserved_slots(ids: Collection[UUID]) -> None:
    """Return what was kept for notifications that will not be claimed any more."""
    ledger.drop_reservations(ids)


def _bucket(row: Row, book: RuleBook) -> Bucket | None:
    if row["channel"] in UNLIMITED:
        return None
    return book.bucket(channel=row["channel"], client_id=row["client_id"], recipient=row["recipient"])


def _sort(rows: Sequence[Row], buckets: Sequence[Bucket | None], states: Mapping[UUID, ledger.State]) -> _Sorting:
    """Args: buckets: of the rows, in their order; None for one that is not limited."""
    sorting = _Sorting()
    for row, bucket in zip(rows, buckets, strict=True):
        if bucket is None:
            sorting.through.append(row)
        elif (state := states.get(bucket.id)) is None:
            continue
        elif state.reserved and row["id"] in state.reserved:
            sorting.reserved.append(row["id"])
            sorting.through.append(row)
        elif state.use_free():
            sorting.used.append((bucket.id, row["id"]))
            sorting.through.append(row)
        else:
            sorting.parked.append((row, bucket))
    return sorting


def _park(over: Sequence[tuple[Row, Bucket]], known: Collection[UUID]) -> int:
    """Their due time is kept: behind the gate the order is that of the queue.

    Args:
        over: rows with their full buckets; what else waits for their recipients is parked too, up to PARK_LIMIT.
        known: the rows of the claim, and those that have been let through a gate.
    """
    buckets = {(row["client_id"], row["channel"], row["recipient"]): bucket for row, bucket in over}
    parked = [(row["id"], bucket.id) for row, bucket in over]
    parked += [(identity, buckets[who].id) for identity, who in lock_waiting(list(buckets), known, PARK_LIMIT)]
    arrays = Arrays({"id": "uuid", "bucket": "uuid"}, parked)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Notification._meta.db_table} n "  # noqa: S608 (names from code, values bound)
            "SET parked_by = v.bucket, waiting_reason = %s, updated_at = now() "
            f"FROM {arrays.source('v')} WHERE n.id = v.id",
            [WaitingReason.RATE_LIMITED, *arrays.parameters()],
        )
    ledger.set_gates(in_lock_order(buckets.values()))
    return len(parked)
