"""The rate limit at the claim: who of those locked may be sent to now; the rest is parked out of the claim's way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from notifications.channel import UNLIMITED
from notifications.models import Notification
from notifications.status import WaitingReason
from notifyq.leasing import Arrays
from ratelimits import ledger
from ratelimits.window import Bucket, Limit, in_lock_order

Row = Mapping[str, Any]


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
    """Rows of one claim, sorted into those that use a free slot, those with a slot of their own, and the others."""

    free: dict[UUID, int]
    used: list[tuple[UUID, UUID]] = field(default_factory=list)
    reserved: list[UUID] = field(default_factory=list)
    parked: list[tuple[UUID, Bucket]] = field(default_factory=list)


def admit(rows: Sequence[Row], token: UUID, limits: Limits) -> tuple[list[Row], int]:
    """Let through, in order, what the limits allow now, count it, and park the rest behind its gate.

    Args:
        rows: `id, client_id, channel, recipient` and more by name, locked in the present transaction, best first.
        token: of the claim that is being made.

    Returns:
        The rows let through, and how many were parked.

    Locks: the buckets' advisory locks, in their order, until the transaction ends.
    """
    limited = [row for row in rows if row["channel"] not in UNLIMITED]
    if not limited:
        return list(rows), 0
    book = ledger.rule_book(limits.default)
    buckets = {
        row["id"]: bucket
        for row in limited
        if (bucket := book.bucket(channel=row["channel"], client_id=row["client_id"], recipient=row["recipient"]))
    }
    if not buckets:
        return list(rows), 0
    ordered = in_lock_order(buckets.values())
    ledger.lock(ordered)
    sorting = _sort(rows, buckets, ledger.states(ordered))
    ledger.use(sorting.used, token, limits.slot_seconds)
    if sorting.reserved:
        ledger.use_reserved(sorting.reserved, token, limits.slot_seconds)
    if sorting.parked:
        _park(sorting.parked)
    out = {identity for identity, _ in sorting.parked}
    return [row for row in rows if row["id"] not in out], len(out)


def give_back_slots(holds: Sequence[tuple[UUID, UUID]]) -> None:
    """Return what sends that certainly did not happen took of their limits, by (id, token)."""
    if holds:
        ledger.give_back(holds)


def drop_reserved_slots(ids: Sequence[UUID]) -> None:
    """Return what was kept for notifications that will not be claimed any more."""
    ledger.drop_reservations(ids)


def _sort(rows: Sequence[Row], buckets: Mapping[UUID, Bucket], states: Mapping[UUID, ledger.State]) -> _Sorting:
    sorting = _Sorting({identity: 0 if state.is_gated else state.free_count for identity, state in states.items()})
    for row in rows:
        identity, bucket = row["id"], buckets.get(row["id"])
        if bucket is None:
            continue
        if identity in states[bucket.id].reserved:
            sorting.reserved.append(identity)
        elif sorting.free[bucket.id] > 0:
            sorting.free[bucket.id] -= 1
            sorting.used.append((bucket.id, identity))
        else:
            sorting.parked.append((identity, bucket))
    return sorting


def _park(parked: Sequence[tuple[UUID, Bucket]]) -> None:
    """Its due time is kept: behind the gate the order is that of the queue."""
    arrays = Arrays({"id": "uuid", "bucket": "uuid"}, [(identity, bucket.id) for identity, bucket in parked])
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Notification._meta.db_table} n "  # noqa: S608 (names from code, values bound)
            "SET parked_by = v.bucket, waiting_reason = %s, updated_at = now() "
            f"FROM {arrays.source('v')} WHERE n.id = v.id",
            [WaitingReason.RATE_LIMITED, *arrays.parameters()],
        )
    ledger.set_gates(in_lock_order(bucket for _, bucket in parked))
