"""Taking what is RECONCILING to ask its provider about it, and ending that.

Whoever takes a row puts its token on it and its next time to be asked about beyond what asking may take. So a row is
asked about by one at a time, one that died while asking is followed by another, and what it says later changes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, FloatField, Func, Value
from django.db.models.functions import Least, Now

from notifications.channel import Channel
from notifications.models import Content, Notification
from notifications.outcome import Standing
from notifications.queue.asked import ASKED, asked_of, plain_record
from notifications.queue.settle import Ending, settle
from notifications.queue.standing import STANDING_COLUMNS, standing_of
from notifications.status import Status
from notifyq.leasing import (
    Arrays,
    SecondsSince,
    end_leases,
    in_any_transaction,
    in_transaction_bounded,
    lock,
    write_all,
)
from notifyq.runtime.wakeup import notify_after_commit

_COLUMNS = (
    "id",
    "client_id",
    "channel",
    "recipient",
    "look_up_count",
    "unconfirmed_at",
    "created_at",
    *STANDING_COLUMNS,
    "unconfirmed_age_seconds",
    "past_ttl_seconds",
)
_AGES = {
    "unconfirmed_age_seconds": SecondsSince("unconfirmed_at"),
    "past_ttl_seconds": SecondsSince("expires_at"),
}
_CONTENT = ("subject", "body", "html_body", "from_name", "reply_to", "collapse_key", "data")
_COUNTED_MOST = 32_000
_DOUBLED_MOST = 9
"""What a dead process was asking about waits 2^n seconds, n at most that: about nine minutes."""

# One descent of the index `notification_reconciling` for each provider, and each gives the first that is due there.
_PROVIDERS = f"""
WITH RECURSIVE head (provider, due_at) AS (
    (SELECT unconfirmed_provider, due_at FROM {Notification._meta.db_table}
      WHERE status = 'RECONCILING' ORDER BY unconfirmed_provider, due_at LIMIT 1)
    UNION ALL
    SELECT next.unconfirmed_provider, next.due_at FROM head CROSS JOIN LATERAL (
        SELECT unconfirmed_provider, due_at FROM {Notification._meta.db_table}
         WHERE status = 'RECONCILING' AND unconfirmed_provider > head.provider
         ORDER BY unconfirmed_provider, due_at LIMIT 1) AS next
)
SELECT provider FROM head WHERE due_at <= now()
"""  # noqa: S608 (a name from code)


@dataclass(slots=True)
class Asking:
    """A notification held to be asked about, with all that a look-up needs. Ages are seconds, read when it was taken.

    Attributes:
        token: the fencing token: whatever ends this has to match it.
        standing: `attempt_number` is the attempts counted so far; its `unconfirmed_provider` is to be asked.
        asked_count: how often it is, this time included.
        since: no later than the first send in doubt.
        age_seconds: since then.
        ttl_seconds: until it expires; None when it never does.
    """

    id: UUID
    token: UUID
    client_id: UUID
    channel: Channel
    recipient: str = field(repr=False)
    cycle: int
    standing: Standing
    asked_count: int
    since: datetime
    age_seconds: float
    ttl_seconds: float | None
    content: dict[str, Any] = field(default_factory=dict, repr=False)


def providers_in_doubt() -> list[str]:
    """The names of the providers about whose sends somebody is to be asked now. One short query."""
    with connection.cursor() as cursor:
        cursor.execute(_PROVIDERS)
        return [row[0] for row in cursor.fetchall()]


def take_askings(
    provider: str,
    limit: int,
    *,
    worker_id: str,
    token: UUID,
    lease_seconds: float,
    due_before: datetime | None = None,
) -> list[Asking]:
    """Take up to `limit` notifications whose send with that provider is to be asked about, the longest due first.

    Args:
        token: never used before.
        lease_seconds: nobody else takes them for so long.
        due_before: only what was due by then, for a pass that is to end.

    Transaction: one short one. Index: `notification_reconciling`. Locks: the rows, passing over locked ones.
    """
    with in_transaction_bounded():
        due = Notification.objects.filter(
            status=Status.RECONCILING, unconfirmed_provider=provider, due_at__lte=due_before or Now()
        ).order_by("due_at", "id")
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in lock(due.annotate(**_AGES), _COLUMNS, limit)]
        if not rows:
            return []
        ids = [row["id"] for row in rows]
        # Counted now and not when it is over, so that one that kills whoever asks is asked about ever more seldom.
        Notification.objects.filter(id__any=ids).update(
            claim_token=token,
            worker_id=worker_id,
            due_at=Now() + timedelta(seconds=lease_seconds),
            look_up_count=Least(F("look_up_count") + 1, _COUNTED_MOST),
        )
        content = {c.pop("pk"): c for c in Content.objects.filter(notification__any=ids).values("pk", *_CONTENT)}
    return [_asking(row, token, content[row["id"]]) for row in rows]


def settle_askings(endings: Sequence[Ending]) -> list[Ending]:
    """Write what came of asking: state, history, rate limit and events commit together or not at all.

    Args:
        endings: their decisions come from `reconciliation.after_finding`, each with what was said (`asked`).

    Returns:
        Those that applied; a stale one changes nothing. Safe to repeat.

    Raises:
        DatabaseError: the database is away. Some parts may be written; a repeat is safe.

    Transaction: two short ones.
    """
    open_still = [e for e in endings if e.decision.status is Status.RECONCILING]
    postponed = set(write_all(open_still, _postpone, _postpone_plain))
    ended = settle([e for e in endings if e.decision.status is not Status.RECONCILING], by="reconcile")
    if any(e.decision.status is Status.PENDING for e in ended):
        notify_after_commit()
    return [e for e in open_still if (e.id, e.token) in postponed] + ended


def free_askings(worker_ids: Sequence[str], *, at_once: bool = False) -> int:
    """Let others ask what these processes, which are dead or about to end, have taken.

    Args:
        at_once: they ended in good order; otherwise asking may be what killed them, so it waits, ever longer.

    Returns:
        How many. Safe to repeat. Index: `notification_reconciling`, all of it.
    """
    held = Notification.objects.filter(
        status=Status.RECONCILING, worker_id__in=list(worker_ids), claim_token__isnull=False
    )
    pause = Func(Value(2.0), Least(F("look_up_count"), _DOUBLED_MOST), function="power", output_field=FloatField())
    later = Now() + Value(timedelta(seconds=1)) * pause
    return held.update(claim_token=None, worker_id="", due_at=Now() if at_once else later)


def _postpone(endings: Sequence[Ending]) -> list[tuple[UUID, UUID]]:
    """Nobody knows yet: what the last send met with stays what the notification shows."""
    columns = {"id": "uuid", "token": "uuid", "held_status": "text", "wait_seconds": "float8"}
    rows = [(e.id, e.token, e.held_status, e.decision.wait_seconds) for e in endings]
    asked = asked_of(endings)
    with in_any_transaction():
        return end_leases(Notification, ASKED, Arrays(columns, rows), [asked] if asked else [])


def _postpone_plain(ending: Ending, error: Exception) -> list[tuple[UUID, UUID]]:
    """The database refuses a text from outside: the state matters more."""
    return _postpone([dataclasses.replace(ending, asked=plain_record(ending.asked))])


def _asking(row: Mapping[str, Any], token: UUID, content: dict[str, Any]) -> Asking:
    past_ttl_seconds = row["past_ttl_seconds"]
    return Asking(
        id=row["id"],
        token=token,
        client_id=row["client_id"],
        channel=Channel(row["channel"]),
        recipient=row["recipient"],
        cycle=row["operator_retry_count"] + 1,
        standing=standing_of(row, row["attempt_count"]),
        asked_count=row["look_up_count"] + 1,
        since=row["unconfirmed_at"] or row["created_at"],
        age_seconds=row["unconfirmed_age_seconds"] or 0.0,
        ttl_seconds=None if past_ttl_seconds is None else -past_ttl_seconds,
        content=content,
    )
