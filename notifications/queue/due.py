"""What is due: locking it for a claim, and how long until there is some.

The statements are written out, since they are made for every claim: the ORM would take longer to put them together
than PostgreSQL takes to run them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection

from notifications.channel import Channel, Priority
from notifications.queue.standing import STANDING_COLUMNS

Row = Mapping[str, Any]

# Loading timestamps and JSON is dear, so a row has neither: ages come as floats, counted by the database.
_COLUMNS = {
    **{name: name for name in ("id", "client_id", "group_id", "channel", "recipient", "rank", *STANDING_COLUMNS)},
    "overdue_seconds": "EXTRACT(EPOCH FROM statement_timestamp() - due_at)::float8",
    "past_ttl_seconds": "EXTRACT(EPOCH FROM statement_timestamp() - expires_at)::float8",
    "expires_epoch": "EXTRACT(EPOCH FROM expires_at)::float8",
    "unconfirmed_age_seconds": "EXTRACT(EPOCH FROM statement_timestamp() - unconfirmed_at)::float8",
}
# Indexes: `notification_claim`, `notification_claim_channel` and, for suspects, `notification_suspect`. Their condition
# stands here and their key is the ORDER BY, so that no row stands behind a run of rows that cannot be claimed.
_WAITING = """
  FROM notifications_notification
 WHERE status = 'PENDING' AND parked_by IS NULL AND {suspect} AND {channel} AND rank = {rank} AND {due}
 ORDER BY due_at, id LIMIT {limit}
"""
_LOCKING = "FOR NO KEY UPDATE SKIP LOCKED"


def lock_due(limit: int, channels: Sequence[Channel], *, suspects: bool, most: Mapping[Channel, int]) -> list[Row]:
    """Lock up to `limit` due notifications: HIGH before NORMAL before LOW, then the longest due, then the oldest.

    Args:
        channels: only these; empty means all.
        suspects: those whose worker died, instead of the others.
        most: how many of a channel, for those that it names.

    Returns:
        The keys of `_COLUMNS` by name.

    Locks: FOR NO KEY UPDATE SKIP LOCKED on the rows, until the transaction ends; see `notifyq.leasing.lock`.
    """
    left: dict[Channel | None, int] = dict(most.items())
    rows: list[tuple[Any, ...]] = []
    with connection.cursor() as cursor:
        for rank, channel in _probes(channels or (list(Channel) if most else ())):
            count = min(limit - len(rows), left.get(channel, limit))
            if count > 0:
                cursor.execute(_lock(rank, channel, suspects=suspects), [count])
                found = cursor.fetchall()
                left[channel] = left.get(channel, limit) - len(found)
                rows += found
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]


def next_due_in_seconds(*, channels: Sequence[Channel] = (), suspects: bool = False) -> float | None:
    """Seconds until the first waiting notification is due, negative when one is overdue; None when none waits."""
    firsts = [
        f"(SELECT due_at {_waiting(rank, channel, suspects=suspects, due='true', limit='1')})"
        for rank, channel in _probes(channels)
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXTRACT(EPOCH FROM min(due_at) - statement_timestamp())::float8 "  # noqa: S608 (names from code)
            f"FROM ({' UNION ALL '.join(firsts)}) AS first"
        )
        seconds: float | None = cursor.fetchone()[0]
        return seconds


def _probes(channels: Sequence[Channel]) -> Iterable[tuple[Priority, Channel | None]]:
    """One per rank (and channel, when restricted), in random order, so that a channel with an endless backlog does not
    starve the next one."""
    some: list[Channel | None] = [*random.sample(list(channels), len(channels))]
    return [(rank, channel) for rank in Priority for channel in some or [None]]


def _lock(rank: Priority, channel: Channel | None, *, suspects: bool) -> str:
    waiting = _waiting(rank, channel, suspects=suspects, due="due_at <= statement_timestamp()", limit="%s")
    return f"SELECT {', '.join(_COLUMNS.values())} {waiting} {_LOCKING}"


def _waiting(rank: Priority, channel: Channel | None, *, suspects: bool, due: str, limit: str) -> str:
    """All of it from the code: the planner sees which index it is for, whether or not the statement is prepared."""
    return _WAITING.format(
        suspect="suspect" if suspects else "NOT suspect",
        channel="true" if channel is None else f"channel = '{channel.value}'",
        rank=rank.value,
        due=due,
        limit=limit,
    )
