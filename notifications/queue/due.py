"""What is due: locking it for a claim, and how long until there is some."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from notifications.channel import Channel, Priority
from notifications.models import Notification
from notifications.queue.standing import STANDING_COLUMNS
from notifications.status import Status
from notifyq.leasing import Epoch, FixedLock, SecondsSince

Row = Mapping[str, Any]

# Loading timestamps and JSON is dear, so a row has neither: ages come as floats, counted by the database.
_AGES = {
    "overdue_seconds": SecondsSince("due_at"),
    "past_ttl_seconds": SecondsSince("expires_at"),
    "expires_epoch": Epoch("expires_at"),
    "unconfirmed_age_seconds": SecondsSince("unconfirmed_at"),
}
_COLUMNS = ("id", "client_id", "group_id", "channel", "recipient", "rank", *STANDING_COLUMNS, *_AGES)


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
    for rank, channel in _probes(channels or (list(Channel) if most else ())):
        count = min(limit - len(rows), left.get(channel, limit))
        if count > 0:
            found = _first_due(rank, channel, suspects).rows(count)
            left[channel] = left.get(channel, limit) - len(found)
            rows += found
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]


def next_due_in_seconds(*, channels: Sequence[Channel] = (), suspects: bool = False) -> float | None:
    """Seconds until the first waiting notification is due, negative when one is overdue; None when none waits."""
    waiting = [
        _waiting(rank, channel, suspects).annotate(age=SecondsSince("due_at")).values_list("age", flat=True)[:1]
        for rank, channel in _probes(channels)
    ]
    ages = waiting[0].union(*waiting[1:], all=True)
    return min((-age for age in ages), default=None)


def _probes(channels: Sequence[Channel]) -> Iterable[tuple[Priority, Channel | None]]:
    """One per rank (and channel, when restricted), in random order, so that a channel with an endless backlog does not
    starve the next one."""
    some: list[Channel | None] = [*random.sample(list(channels), len(channels))]
    return [(rank, channel) for rank in Priority for channel in some or [None]]


@cache
def _first_due(rank: Priority, channel: Channel | None, suspects: bool) -> FixedLock:
    """Every claim locks these; the ORM takes longer to put a statement together than PostgreSQL to run it."""

    def due() -> QuerySet[Notification, tuple[Any, ...]]:
        waiting = _waiting(rank, channel, suspects).filter(due_at__lte=Now())
        return waiting.annotate(**_AGES).values_list(*_COLUMNS)

    return FixedLock(due)


def _waiting(rank: Priority, channel: Channel | None, suspects: bool) -> QuerySet[Notification]:
    """The head of an index: `notification_claim`, `notification_claim_channel` or, for suspects,
    `notification_suspect`. Their condition stands here and their key is the order, so that no row stands behind a run
    of rows that cannot be claimed."""
    rows = Notification.objects.filter(status=Status.PENDING, suspect=suspects, parked_by=None, rank=rank)
    narrowed = rows if channel is None else rows.filter(channel=channel)
    return narrowed.order_by("due_at", "id")
