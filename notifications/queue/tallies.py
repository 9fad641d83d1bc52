"""Counting outcomes as they happen, so that nobody has to count the queue to draw a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from notifyq.leasing import in_transaction_bounded
from notifyq.leasing.arrays import literal

FOLD_LIMIT = 5_000
MINUTE, HOUR = 60, 3600

_TALLY = """
INSERT INTO notifications_outcometally (at, status, channel, count)
SELECT now(), status, channel, count(*) FROM notifications_notification WHERE id = ANY(%s::uuid[])
 GROUP BY status, channel
"""
# What is folded at once is bounded; two who fold at once pass over each other's rows, and add up in the same row.
_FOLD = """
WITH gone AS (
    DELETE FROM notifications_outcometally WHERE id IN (
        SELECT id FROM notifications_outcometally
         WHERE span_seconds = %(narrow)s AND at < date_trunc(%(unit)s, now()) - make_interval(secs => %(after)s)
         ORDER BY at LIMIT %(most)s FOR UPDATE SKIP LOCKED)
    RETURNING at, status, channel, count)
INSERT INTO notifications_outcometally AS kept (at, span_seconds, status, channel, count)
SELECT date_trunc(%(unit)s, at), %(wide)s, status, channel, sum(count) FROM gone GROUP BY 1, 3, 4 ORDER BY 1, 3, 4
    ON CONFLICT (span_seconds, at, status, channel) WHERE span_seconds > 0
    DO UPDATE SET count = kept.count + excluded.count
"""
_FORGET = """
DELETE FROM notifications_outcometally WHERE id IN (
    SELECT id FROM notifications_outcometally WHERE at < now() - make_interval(days => %s)
     ORDER BY at LIMIT %s FOR UPDATE SKIP LOCKED)
"""
_STEPS = (
    {"narrow": 0, "wide": MINUTE, "unit": "minute", "after": 0},
    {"narrow": MINUTE, "wide": HOUR, "unit": "hour", "after": 86_400},
)
KEPT_DAYS = 90


def tally(ids: Sequence[UUID]) -> None:
    """Count these, which this transaction has moved to a final state. Adds rows and touches none, so it waits for
    nobody."""
    with connection.cursor() as cursor:
        cursor.execute(_TALLY, [literal(ids)])


def fold_tallies(*, kept_days: int = KEPT_DAYS) -> int:
    """One bounded pass: make few rows of many, and forget the oldest. Returns how many rows were worked off.

    Transaction: one short one for each step. Index: `outcome_tally_at`. Locks: the folded rows, passing over locked
    ones. Safe with any number of callers at once.
    """
    return sum(_execute(_FOLD, {**step, "most": FOLD_LIMIT}) for step in _STEPS) + _execute(
        _FORGET, [kept_days, FOLD_LIMIT]
    )


def _execute(statement: str, values: Mapping[str, Any] | Sequence[Any]) -> int:
    with in_transaction_bounded(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)
