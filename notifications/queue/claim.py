"""Taking what is due, in priority order."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, connection
from django.db.models import Case, F, Value, When
from django.db.models.functions import Now

from notifications.channel import Channel
from notifications.models import Notification
from notifications.outcome import Standing
from notifications.queue.admission import Limits, admit, drop_reserved_slots
from notifications.queue.due import Row, lock_due
from notifications.queue.expire import Askable, Ended, end_expired
from notifications.queue.pauses import Serving, keep_paused, nobody
from notifications.queue.standing import standing_of
from notifications.queue.unavailable import NO_TERMS, Terms, put_off_bound
from notifications.status import Status
from notifyq.leasing import in_transaction_bounded, take
from notifyq.leasing.arrays import literal

log = logging.getLogger(__name__)

_CONTENT = ("subject", "body", "html_body", "from_name", "reply_to", "collapse_key", "data", "serial")
_CONTENT_OF = (
    f"SELECT notification_id, {', '.join(_CONTENT)} FROM notifications_content "  # noqa: S608 (names from code)
    "WHERE notification_id = ANY(%s::uuid[])"
)
_LAST_EPOCH_SECONDS = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
_COUNTED = F("attempt_count") + Case(When(final_check=True, then=Value(0)), default=Value(1))
"""The one send beyond the last is not counted."""


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
        due = lock_due(limit, claimer.channels, suspects=claimer.suspects, most=terms.most)
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
                attempt_count=_COUNTED,
                updated_at=Now(),
            )
            content = _content_of(ids)
    if len(unpaused) < len(due):
        _drop_reserved({row["id"] for row in due}.difference(row["id"] for row in unpaused))
    moved_count = len(put_off) + len(paused) + limited_count
    return Claim(_readable(rows, token, content) if rows else [], moved_count, expired)


def _end_those_past_ttl(rows: Sequence[Row], askable: Askable) -> tuple[list[Row], Ended]:
    """The others, and how many were ended."""
    over = [row for row in rows if _is_past_ttl(row)]
    if not over:
        return list(rows), Ended()
    return [row for row in rows if not _is_past_ttl(row)], end_expired(over, askable)


def _is_past_ttl(row: Row) -> bool:
    return row["past_ttl_seconds"] is not None and row["past_ttl_seconds"] >= 0


def _drop_reserved(ids: Collection[UUID]) -> None:
    """In a transaction of its own: the claim's may hold buckets already, and they are only ever locked in order.

    Where it fails, the slots are free one window later; the rows that the claim took must not be lost over it."""
    try:
        drop_reserved_slots(ids)
    except DatabaseError:
        connection.close()


def _content_of(ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(_CONTENT_OF, [literal(ids)])
        found = {row[0]: dict(zip(_CONTENT, row[1:], strict=True)) for row in cursor.fetchall()}
    for content in found.values():
        content["data"] = {} if content["data"] == "{}" else json.loads(content["data"])
    return found


def _readable(rows: Sequence[Row], token: UUID, content: Mapping[UUID, dict[str, Any]]) -> list[Claimed]:
    """Each by itself: they are under a lease by now. One that cannot be read keeps it, and its rescue counts the
    attempt; those beside it are delivered."""
    claimed = []
    for row in rows:
        try:
            claimed.append(_claimed(row, token, content[row["id"]]))
        except Exception as error:  # noqa: BLE001 (whatever it is, the others must not be lost over it)
            log.error(  # noqa: TRY400 (its text may be private)
                "claim_unreadable", extra={"notification_id": str(row["id"]), "error": type(error).__name__}
            )
    return claimed


def _instant(epoch_seconds: float) -> datetime:
    """The last microseconds of the year 9999 are the next year as a float."""
    return datetime.fromtimestamp(min(epoch_seconds, _LAST_EPOCH_SECONDS), UTC)


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
        expires_at=None if row["expires_epoch"] is None else _instant(row["expires_epoch"]),
    )
