"""Counts of the whole queue, and of one client's newest: each look is bounded, however big the table is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from notifications.channel import Channel, Priority
from notifications.models import Client
from notifications.models.notification import SELDOM
from notifications.status import Status

COUNTED_MOST = 10_000
"""How far each is counted: every status of the whole queue, or the client's newest notifications."""

# The statuses stand in the text, so that each look finds its partial index: notification_claim_channel, _suspect and
# _parked for PENDING, _lease for PROCESSING, _undelivered for the others, index-only but for pages changed lately.
_WHERE: tuple[tuple[Status, str], ...] = (
    (Status.PENDING, "status = 'PENDING' AND parked_by IS NULL AND NOT suspect"),
    (Status.PENDING, "status = 'PENDING' AND parked_by IS NULL AND suspect"),
    (Status.PENDING, "parked_by IS NOT NULL"),
    (Status.PROCESSING, "lease_expires_at IS NOT NULL"),
    *((status, f"status = '{status}'") for status in SELDOM),
)
_COUNT = """
SELECT channel, count(*) FROM (
       SELECT channel FROM notifications_notification WHERE {where} LIMIT %(most)s) AS counted
 GROUP BY channel
"""
# Most rows are SENT and no index names them: they are counted among the newest, by the primary key.
_SENT = """
SELECT channel, count(*) FILTER (WHERE status = 'SENT'), count(*) FROM (
       SELECT status, channel FROM notifications_notification ORDER BY id DESC LIMIT %(most)s) AS newest
 GROUP BY channel
"""
# Index notification_client.
_OWN = """
SELECT status, channel, count(*), extract(epoch FROM now() - min(due_at) FILTER (
           WHERE status = 'PENDING' AND parked_by IS NULL AND due_at <= now()))::float8
  FROM (SELECT status, channel, due_at, parked_by FROM notifications_notification
         WHERE client_id = %(client)s ORDER BY id DESC LIMIT %(most)s) AS newest
 GROUP BY status, channel
"""
# Index notification_claim, its first entry for each rank. Null when nothing is due.
OLDEST_DUE = """
SELECT extract(epoch FROM now() - min(oldest.due_at))::float8
  FROM unnest(%(priorities)s::int[]) AS p
 CROSS JOIN LATERAL (
       SELECT due_at FROM notifications_notification
        WHERE status = 'PENDING' AND NOT suspect AND parked_by IS NULL AND rank = p AND due_at <= now()
        ORDER BY due_at LIMIT 1) AS oldest
"""
# Index outcome_tally_at.
_OUTCOMES = """
SELECT date_bin(make_interval(secs => %(step)s), at, %(since)s), status, sum(count)
  FROM notifications_outcometally WHERE at >= %(since)s GROUP BY 1, 2 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many notifications there are.

    Attributes:
        by_status: status → channel → count, with a zero where there is none.
        is_complete: nothing was left uncounted.
        oldest_due_age_seconds: since the longest due one has been waiting to be claimed; None when none is due.
    """

    by_status: dict[Status, dict[Channel, int]]
    is_complete: bool
    oldest_due_age_seconds: float | None


def count_all() -> Counts:
    """The whole queue: each status up to COUNTED_MOST, SENT among the newest so many notifications."""
    by_status = _zeros()
    complete = True
    for status, where in _WHERE:
        rows = _rows(_COUNT.format(where=where))
        complete &= sum(count for _, count in rows) < COUNTED_MOST
        for channel, count in rows:
            by_status[status][Channel(channel)] += count
    newest = _rows(_SENT)
    complete &= sum(seen for _, _, seen in newest) < COUNTED_MOST
    by_status[Status.SENT] |= {Channel(channel): count for channel, count, _ in newest}
    return Counts(by_status, complete, oldest_due_age_seconds())


def count_dead_letters() -> int:
    """Those of the whole queue, up to COUNTED_MOST."""
    return sum(count for _, count in _rows(_COUNT.format(where=dict(_WHERE)[Status.DEAD_LETTERED])))


def oldest_due_age_seconds() -> float | None:
    """Since the longest due one has been waiting to be claimed; None when none is due."""
    ((age,),) = _rows(OLDEST_DUE)
    return None if age is None else float(age)


def count_outcomes(since: datetime, step_seconds: float) -> list[tuple[datetime, Status, int]]:
    """How many ended how since an instant, as (beginning of the step, status, count), oldest first; steps in which
    none did are left out. What ended more than a day ago is only known by the hour."""
    bound = {"since": since, "step": step_seconds}
    return [(at, Status(status), int(count)) for at, status, count in _rows(_OUTCOMES, **bound)]


def count_own(client: Client) -> Counts:
    """The newest COUNTED_MOST notifications of the client."""
    by_status, ages, seen = _zeros(), [], 0
    for status, channel, count, age in _rows(_OWN, client=client.pk):
        by_status[Status(status)][Channel(channel)] = count
        seen += count
        ages += [] if age is None else [age]
    return Counts(by_status, seen < COUNTED_MOST, max(ages, default=None))


def _zeros() -> dict[Status, dict[Channel, int]]:
    return {status: dict.fromkeys(Channel, 0) for status in Status}


def _rows(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    bound: dict[str, Any] = {"most": COUNTED_MOST, "priorities": [p.value for p in Priority], **values}
    with connection.cursor() as cursor:
        cursor.execute(statement, {name: value for name, value in bound.items() if f"%({name})s" in statement})
        return list(cursor.fetchall())
