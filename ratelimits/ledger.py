"""The ledger: what was sent to whom, and who may be sent to now.

Everything that is done to a bucket's slots or gate is done under the bucket's advisory lock, which is taken in a
statement before the one that counts (a count sees what was committed when *its* statement began). A transaction takes
the locks of all its buckets at once, in their one order, and whoever holds any of them waits for no row of the queue:
that keeps this free of deadlocks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from notifyq.leasing import Arrays, Fixed
from notifyq.leasing.arrays import literal
from ratelimits.models import Gate, RateLimitRule, Slot
from ratelimits.window import Bucket, Limit, RuleBook, lock_key

PRUNE_LIMIT = 2000

_RULES = Fixed(
    lambda: RateLimitRule.objects.order_by().values_list("channel", "client_id", "limit_count", "window_seconds")
)
_LOCK = "SELECT count(pg_advisory_xact_lock(key)) FROM unnest(%s::bigint[]) AS key"


# Nearly every bucket of a claim is empty, and of those nothing is read.
_IN_USE = """
SELECT id, used, reserved, is_gated FROM (
    SELECT b.id, s.used, s.reserved, EXISTS (SELECT 1 FROM ratelimits_gate g WHERE g.bucket = b.id) AS is_gated
      FROM {windows}, LATERAL (
           SELECT count(*) AS used, array_agg(holder_id) FILTER (WHERE claim_token IS NULL) AS reserved
             FROM ratelimits_slot
            WHERE bucket = b.id AND slot_at > statement_timestamp() - b.seconds * interval '1 second') AS s) AS bucket
 WHERE used > 0 OR is_gated
"""
NOBODY: frozenset[UUID] = frozenset()


@dataclass(slots=True)
class State:
    """How full a bucket is, while it is held.

    Attributes:
        free_count: sends that may still be let through; negative after a limit was lowered.
        reserved: holders that were let through and wait to be claimed; they are counted already.
        is_gated: others wait behind a gate.
    """

    free_count: int
    reserved: frozenset[UUID]
    is_gated: bool

    def use_free(self) -> bool:
        """Use up one place for whoever comes now, unless there is none, or others wait for it."""
        if self.is_gated or self.free_count <= 0:
            return False
        self.free_count -= 1
        return True


def _due_gates() -> QuerySet[Gate]:
    return Gate.objects.filter(release_at__lte=Now())


_ANY_DUE = Fixed(lambda: _due_gates().values_list("bucket")[:1])


def rule_book(default: Limit | None) -> RuleBook:
    """The rules as they are now; read for each claim, so that a change is in force from the next one on."""
    rules = {
        (channel, client_id): None if count is None else Limit(count, window)
        for channel, client_id, count, window in _RULES.rows()
    }
    return RuleBook(default, rules)


def lock(buckets: Sequence[Bucket]) -> list[Bucket]:
    """Hold the buckets until the transaction ends, so that nobody counts or uses their slots meanwhile.

    One with a gate is passed over while somebody else holds it, since that may take long: many rows may be on their way
    behind the gate. Only if nothing is left then, all are waited for.

    Args:
        buckets: in lock order, see `window.in_lock_order`; the transaction must hold no other.

    Returns:
        Those that are held now, in order.
    """
    arrays = Arrays({"id": "uuid", "key": "int8"}, [(b.id, b.lock_key) for b in buckets])
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT b.id FROM {arrays.source('b')} WHERE NOT CASE "  # noqa: S608 (values bound)
            "WHEN EXISTS (SELECT 1 FROM ratelimits_gate g WHERE g.bucket = b.id) THEN pg_try_advisory_xact_lock(b.key) "
            "ELSE pg_advisory_xact_lock(b.key) IS NOT NULL END",
            arrays.parameters(),
        )
        missed = {row[0] for row in cursor.fetchall()}
        if len(missed) == len(buckets):
            cursor.execute(_LOCK, [_keys(buckets)])
            return list(buckets)
    return [b for b in buckets if b.id not in missed] if missed else list(buckets)


def try_lock(buckets: Sequence[Bucket]) -> list[Bucket]:
    """Hold those of the buckets that nobody else holds, without waiting.

    Args:
        buckets: in lock order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key FROM unnest(%s::bigint[]) AS key WHERE pg_try_advisory_xact_lock(key)",
            [_keys(buckets)],
        )
        held = {row[0] for row in cursor.fetchall()}
    return [b for b in buckets if b.lock_key in held]


def _keys(buckets: Sequence[Bucket]) -> str:
    return literal(b.lock_key for b in buckets)


def states(buckets: Sequence[Bucket]) -> dict[UUID, State]:
    """How full each bucket is. They have to be locked.

    By the time of the statement: that of the transaction may be from before the lock, when a reservation was still
    good that somebody else has counted as gone since.

    Index: `slot_window` once per bucket.
    """
    found = {b.id: State(b.limit.count, NOBODY, is_gated=False) for b in buckets}
    windows = Arrays({"id": "uuid", "seconds": "float8"}, [(b.id, b.limit.window_seconds) for b in buckets])
    with connection.cursor() as cursor:
        cursor.execute(_IN_USE.format(windows=windows.source("b")), windows.parameters())
        for bucket_id, used_count, reserved, is_gated in cursor.fetchall():
            state = found[bucket_id]
            state.free_count -= used_count
            state.reserved, state.is_gated = frozenset(reserved or ()), is_gated
    return found


def use(slots: Sequence[tuple[UUID, UUID]], token: UUID, slot_seconds: float) -> None:
    """Count sends that a claim lets through.

    Args:
        slots: (bucket, holder).
        slot_seconds: from now to the last instant at which the sends may happen.
    """
    _insert(slots, token, slot_seconds)


def use_reserved(holder_ids: Sequence[UUID], token: UUID, slot_seconds: float) -> None:
    """The same for holders that have a slot reserved: it becomes theirs, and is stamped anew."""
    reserved = Slot.objects.filter(holder_id__any=holder_ids, claim_token=None)
    reserved.update(claim_token=token, slot_at=Now() + timedelta(seconds=slot_seconds))


def reserve(slots: Sequence[tuple[UUID, UUID]]) -> None:
    """Keep slots for holders that are let through their gate, until they are claimed. By (bucket, holder)."""
    _insert(slots, None, 0.0)


def _insert(slots: Sequence[tuple[UUID, UUID]], token: UUID | None, slot_seconds: float) -> None:
    if not slots:
        return
    arrays = Arrays({"bucket": "uuid", "holder_id": "uuid"}, slots)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ratelimits_slot (bucket, holder_id, claim_token, slot_at) "  # noqa: S608 (values bound)
            "SELECT v.bucket, v.holder_id, %s::uuid, statement_timestamp() + %s * interval '1 second' "
            f"FROM {arrays.source('v')}",
            [token, slot_seconds, *arrays.parameters()],
        )


def drop_reservations(holder_ids: Collection[UUID]) -> None:
    """Free the slots reserved for holders that will not be claimed any more. Locks their buckets."""
    _free(Arrays({"holder_id": "uuid"}, [(holder_id,) for holder_id in holder_ids]), "s.claim_token IS NULL")


def give_back(holds: Sequence[tuple[UUID, UUID]]) -> None:
    """Return the slots of sends that certainly did not happen. Safe to repeat. Locks their buckets.

    Args:
        holds: (holder, claim token).
    """
    _free(Arrays({"holder_id": "uuid", "token": "uuid"}, holds), "s.claim_token = h.token")


def _free(holders: Arrays, condition: str) -> None:
    """Under the buckets' locks: whoever is just finding one full sets its gate before or after this, never unaware
    of it."""
    which = f"FROM ratelimits_slot s JOIN {holders.source('h')} ON s.holder_id = h.holder_id WHERE {condition}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT s.bucket {which}", holders.parameters())
        bucket_ids = [row[0] for row in cursor.fetchall()]
        if not bucket_ids:
            return
        cursor.execute(_LOCK, [literal(sorted(map(lock_key, bucket_ids)))])
        cursor.execute(
            f"DELETE FROM ratelimits_slot WHERE id IN (SELECT s.id {which})",  # noqa: S608 (values bound)
            holders.parameters(),
        )
        cursor.execute(
            "UPDATE ratelimits_gate SET release_at = LEAST(release_at, now()) WHERE bucket = ANY(%s::uuid[])",
            [literal(bucket_ids)],
        )


def due_gates(limit: int) -> list[Gate]:
    """Gates whose next slot is expected to be free by now, the longest due first. Takes no lock."""
    return list(_due_gates().order_by("release_at")[:limit]) if _ANY_DUE.rows() else []


def open_gates() -> None:
    """Have every gate looked at anew, since the rules are no longer those by which it was set.

    Transaction: many, none of which holds more than one bucket that it has waited for.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ratelimits_gate SET release_at = now() WHERE bucket = ANY (ARRAY("
            "SELECT bucket FROM ratelimits_gate WHERE release_at > now() FOR UPDATE SKIP LOCKED))"
        )
    for bucket_id in list(Gate.objects.filter(release_at__gt=Now()).values_list("bucket", flat=True)):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_LOCK, [literal([lock_key(bucket_id)])])
            Gate.objects.filter(bucket=bucket_id).update(release_at=Now())


def next_release_in_seconds() -> float | None:
    """Seconds until the first gate is to be looked at, negative when one is overdue; None when there is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXTRACT(EPOCH FROM min(release_at) - statement_timestamp())::float8 FROM ratelimits_gate"
        )
        seconds: float | None = cursor.fetchone()[0]
        return seconds


def set_gates(buckets: Sequence[Bucket]) -> None:
    """Put a gate before each of these full buckets, or move it to when its next slot will be free.

    That is when the N-th newest of its slots leaves the window. The buckets have to be locked.
    """
    rows = [(b.id, b.channel, b.client_id, b.limit.count, b.limit.window_seconds) for b in buckets]
    arrays = Arrays({"id": "uuid", "channel": "text", "client_id": "uuid", "count": "int4", "seconds": "float8"}, rows)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ratelimits_gate (bucket, channel, client_id, release_at) "  # noqa: S608 (values bound)
            "SELECT b.id, b.channel, b.client_id, COALESCE((SELECT slot_at FROM ratelimits_slot "
            "WHERE bucket = b.id ORDER BY slot_at DESC OFFSET b.count - 1 LIMIT 1) "
            "+ b.seconds * interval '1 second', now()) "
            f"FROM {arrays.source('b')} ORDER BY b.id "
            "ON CONFLICT (bucket) DO UPDATE SET release_at = EXCLUDED.release_at",
            arrays.parameters(),
        )


def remove_gates(bucket_ids: Sequence[UUID]) -> None:
    """Nothing waits behind them any more. The buckets have to be locked."""
    Gate.objects.filter(bucket__any=sorted(bucket_ids)).delete()


def release_times(bucket_ids: Sequence[UUID]) -> Mapping[UUID, object]:
    """When the next slot of each bucket is expected to be free; only of those with a gate."""
    return dict(Gate.objects.filter(bucket__any=bucket_ids).values_list("bucket", "release_at"))


def prune(keep_seconds: float, limit: int = PRUNE_LIMIT) -> int:
    """Delete slots that no window can hold any more: a bounded batch, passing over what is locked.

    Args:
        keep_seconds: the longest window in force.

    Returns:
        How many were deleted; call again at once when that is `limit`.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ratelimits_slot WHERE id = ANY (ARRAY(SELECT id FROM ratelimits_slot "
            "WHERE slot_at < now() - %s * interval '1 second' ORDER BY slot_at LIMIT %s FOR UPDATE SKIP LOCKED))",
            [keep_seconds, limit],
        )
        return int(cursor.rowcount)


def longest_window_seconds(default: Limit | None) -> float:
    """The longest window that any limit now in force looks back over; 0 when there is no limit."""
    windows = [limit.window_seconds for limit in (default, *rule_book(default).rules.values()) if limit]
    return max(windows, default=0.0)
