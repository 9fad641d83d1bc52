"""Taking what is due, in priority order."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, connection
from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.functions import Now

from notifications.channel import Channel, Priority
from notifications.models import Content, Notification
from notifications.outcome import Standing
from notifications.queue.admission import Limits, Row, admit, drop_reserved_slots
from notifications.queue.expire import Askable, Ended, end_expired
from notifications.queue.pauses import Serving, keep_paused, nobody
from notifications.queue.standing import STANDING_COLUMNS, standing_of
from notifications.queue.unavailable import NO_TERMS, Terms, put_off_bound
from notifications.status import Status
from notifyq.leasing import Epoch, SecondsSince, in_transaction_bounded, lock, take

# Loading timestamps and JSON is dear, so the hot select has neither: ages come as floats, counted by the database.
_HOT = (
    "id",
    "client_id",
    "group_id",
    "channel",
    "recipient",
    "rank",
    *STANDING_COLUMNS,
    "overdue_seconds",
    "past_ttl_seconds",
    "expires_epoch",
    "unconfirmed_age_seconds",
)
_AGES = {
    "overdue_seconds": SecondsSince("due_at"),
    "past_ttl_seconds": SecondsSince("expires_at"),
    "expires_epoch": Epoch("expires_at"),
    "unconfirmed_age_seconds": SecondsSince("unconfirmed_at"),
}
_CONTENT = ("subject", "body", "html_body", "from_name", "reply_to", "collapse_key", "data", "serial")


@dataclass(slots=True)
class Claimed:
    """A notification held under a lease, with all that a delivery needs. Ages are seconds, read at the claim.

    Attributes:
        token: the fencing token: whatever ends this lease has to match it.
        overdue_seconds: since it was due.
        ttl_seconds: until it expires; None when it never does.
        unconfirmed_age_seconds: since the first attempt that may have been sent; None when there is none.
        content: `subject, body, html_body, from_name, reply_to, collapse_key, data, serial` by name.
        expires_at: when that is (aware UTC), for vendors that want an instant; None when it never expires.
    """

    id: UUID
    token: UUID
    client_id: UUID
    channel: Channel
    recipient: str = field(repr=False)
    rank: int
    cycle: int
    standing: Standing
    overdue_seconds: float
    ttl_seconds: float | None
    unconfirmed_age_seconds: float | None
    content: dict[str, Any] = field(default_factory=dict, repr=False)
    group_id: UUID | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What one claim took.

    Attributes:
        rows: in order.
        parked_count: due ones that were moved out of the way: paused, behind a rate limit, or put off since their
            provider is not available. More may be due behind them.
        expired: due ones that were ended instead, since their time to live was over.
    """

    rows: list[Claimed]
    parked_count: int
    expired: Ended

    @property
    def moved_count(self) -> int:
        """Rows that are no longer where they were."""
        return len(self.rows) + self.parked_count + self.expired.total()


@dataclass(frozen=True, slots=True)
class Claimer:
    """Who claims, and on what terms.

    Attributes:
        channels: only these; empty means all.
        suspects: rows whose worker died (for a quarantine process, one at a time) instead of the others.
        serving: (channel, recipient) → the names of the providers it may be sent through, for the pauses of providers.
        askable: the providers that can be asked about a send.
    """

    worker_id: str
    lease_seconds: float
    limits: Limits
    channels: tuple[Channel, ...] = ()
    suspects: bool = False
    serving: Serving = nobody
    askable: Askable = field(default_factory=dict)


def claim(claimer: Claimer, limit: int, *, token: UUID | None = None, terms: Terms = NO_TERMS) -> Claim:
    """Take up to `limit` due notifications: HIGH before NORMAL before LOW, then the longest due, then the oldest.

    What has outlived its time to live is ended on the way, and what is paused or over its rate limit is parked.

    Args:
        limit: free seats of the worker.
        token: the fencing token to use, never used before; a fresh one when absent.
        terms: what the health of the providers allows; what it leaves out is not touched.

    Returns:
        The rows, now PROCESSING with one more attempt counted. The transaction has committed.

    Transaction: one short one, READ COMMITTED. Locks: `notifyq.leasing.lock` on the rows, then the buckets of the
    rate limits.
    """
    token = token or uuid4()
    with in_transaction_bounded():
        due = _lock_due(limit, claimer.channels, suspects=claimer.suspects, most=terms.most)
        in_time, expired = _end_those_past_ttl(due, claimer.askable)
        available, put_off = put_off_bound(in_time, terms) if terms.waits else (in_time, [])
        unpaused, paused = keep_paused(available, claimer.serving) if available else ([], [])
        rows, limited_count = admit(unpaused, token, claimer.limits) if unpaused else ([], 0)
        if rows:
            ids = [row["id"] for row in rows]
            take(
                Notification,
                ids,
                token=token,
                worker_id=claimer.worker_id,
                lease_seconds=claimer.lease_seconds,
                status=Status.PROCESSING,
                waiting_reason="",
                attempt_count=F("attempt_count") + Case(When(final_check=True, then=Value(0)), default=Value(1)),
                updated_at=Now(),
            )
            content = {c.pop("pk"): c for c in Content.objects.filter(notification__any=ids).values("pk", *_CONTENT)}
    kept = {row["id"] for row in unpaused}
    if gone := [row["id"] for row in due if row["id"] not in kept]:
        _drop_reserved(gone)
    moved_count = len(put_off) + len(paused) + limited_count
    return Claim([_claimed(row, token, content[row["id"]]) for row in rows], moved_count, expired)


def next_due_in_seconds(*, channels: Sequence[Channel] = (), suspects: bool = False) -> float | None:
    """Seconds until the first waiting notification is due, negative when one is overdue; None when none waits."""
    waiting = [
        probe.annotate(age=SecondsSince("due_at")).values_list("age", flat=True)[:1]
        for _, probe in _probes(channels, suspects=suspects)
    ]
    ages = waiting[0].union(*waiting[1:], all=True)
    return min((-age for age in ages), default=None)


def _probes(channels: Sequence[Channel], *, suspects: bool) -> list[tuple[Channel | None, QuerySet[Notification]]]:
    """One per rank (and channel, when restricted), so that no row stands behind a run of rows that cannot be
    claimed: each reads the head of the claim index, whose key is its ORDER BY."""
    waiting = Notification.objects.filter(status=Status.PENDING, suspect=suspects, parked_by=None)
    # In random order, so that a channel with an endless backlog does not starve the next one.
    some = random.sample(list(channels), len(channels))
    narrowed: list[tuple[Channel | None, QuerySet[Notification]]] = [(c, waiting.filter(channel=c)) for c in some]
    return [
        (channel, rows.filter(rank=rank).order_by("due_at", "id"))
        for rank in Priority
        for channel, rows in narrowed or [(None, waiting)]
    ]


def _lock_due(limit: int, channels: Sequence[Channel], *, suspects: bool, most: Mapping[Channel, int]) -> list[Row]:
    """Args: most: how many of a channel, for those that it names."""
    left: dict[Channel | None, int] = dict(most.items())
    rows: list[tuple[Any, ...]] = []
    for channel, probe in _probes(channels or (list(Channel) if most else ()), suspects=suspects):
        count = min(limit - len(rows), left.get(channel, limit))
        if count > 0:
            found = lock(probe.filter(due_at__lte=Now()).annotate(**_AGES), _HOT, count)
            left[channel] = left.get(channel, limit) - len(found)
            rows += found
    return [dict(zip(_HOT, row, strict=True)) for row in rows]


def _end_those_past_ttl(rows: list[Row], askable: Askable) -> tuple[list[Row], Ended]:
    """The others, and how many were ended."""
    over = {row["id"] for row in rows if row["past_ttl_seconds"] is not None and row["past_ttl_seconds"] >= 0}
    expired = end_expired([row for row in rows if row["id"] in over], askable)
    return [row for row in rows if row["id"] not in over], expired


def _drop_reserved(ids: Sequence[UUID]) -> None:
    """In a transaction of its own: the claim's may hold buckets already, and they are only ever locked in order.

    Where it fails, the slots are free one window later; the rows that the claim took must not be lost over it."""
    try:
        drop_reserved_slots(ids)
    except DatabaseError:
        connection.close()


def _claimed(row: Row, token: UUID, content: dict[str, Any]) -> Claimed:
    past_ttl_seconds = row["past_ttl_seconds"]
    return Claimed(
        id=row["id"],
        token=token,
        client_id=row["client_id"],
        channel=Channel(row["channel"]),
        recipient=row["recipient"],
        rank=row["rank"],
        cycle=row["operator_retry_count"] + 1,
        standing=standing_of(row, row["attempt_count"] + 1),
        overdue_seconds=row["overdue_seconds"],
        ttl_seconds=None if past_ttl_seconds is None else -past_ttl_seconds,
        unconfirmed_age_seconds=row["unconfirmed_age_seconds"],
        content=content,
        group_id=row["group_id"],
        expires_at=None if row["expires_epoch"] is None else datetime.fromtimestamp(row["expires_epoch"], UTC),
    )
