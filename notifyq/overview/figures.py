"""What the front page shows, read in a handful of bounded looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from notifications import counting, heartbeats, selectors
from notifications.channel import Channel, Priority
from notifications.heartbeats import WorkerState
from notifications.selectors import BreakerView
from notifications.status import Status
from notifyq.overview.acts import ActInHand, in_hand
from notifyq.overview.attention import Concern, Seen, concerns
from notifyq.overview.charts import Chart, Span, chart
from notifyq.overview.troubles import Ended, OldestDue, read_troubles
from notifyq.queue_metrics import COUNTED_MOST, QueueCollector
from notifyq.runtime.index_order import in_index_order

LATEST = 1_000
WAITING = (Status.PENDING, Status.PROCESSING, Status.RECONCILING)
_SERIES = (Status.SENT, Status.FAILED, Status.DEAD_LETTERED)

# The newest first attempts, by the primary key of their table.
_LATENESS = """
SELECT percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY late), count(*) FROM (
    SELECT extract(epoch FROM a.started_at - n.send_at)::float8 AS late
      FROM (SELECT notification_id, started_at FROM notifications_attempt
             WHERE number = 1 AND cycle = 1 AND hop = 1 AND started_at IS NOT NULL ORDER BY id DESC LIMIT %s) AS a
      JOIN notifications_notification AS n ON n.id = a.notification_id) AS latest
"""
_BACKLOG = "SELECT count(*) FROM (SELECT 1 FROM webhooks_webhookevent WHERE status = 'PENDING' LIMIT %s) AS counted"

_collector = QueueCollector()


@dataclass(frozen=True, slots=True)
class Depth:
    """How many notifications of a status wait or are under way: a number for each channel and priority."""

    status: Status
    rows: Sequence[tuple[Channel, Sequence[Cell]]]
    total: float


@dataclass(frozen=True, slots=True)
class Cell:
    """Those of one channel and priority."""

    priority: Priority
    count: float


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the page. None stands for what could not be read now, or does not exist yet.

    Attributes:
        kept_count: how many pauses keep, as far as it was counted.
        lateness_seconds, lateness_of: of the newest first attempts, sent or not, and how many those are.
    """

    now: datetime
    depths: Sequence[Depth]
    dead_letters: int
    parked: float
    lateness_seconds: Sequence[float] | None
    lateness_of: int
    charts: Mapping[Status, Chart]
    webhook_backlog: int
    webhook_endpoints: Mapping[str, float]
    workers: Sequence[WorkerState]
    breakers: Sequence[BreakerView]
    bulk_acts: Sequence[ActInHand]
    oldest_due: OldestDue | None
    ended: Mapping[Status, Ended]
    concerns: Sequence[Concern]
    is_incomplete: bool
    kept_count: int
    unconfirmed_age_seconds: float
    has_late_unconfirmed: bool

    @property
    def oldest_due_age_seconds(self) -> float | None:
        return self.oldest_due.age_seconds if self.oldest_due else None


def read(span: Span) -> Overview:
    """Read all of it.

    Raises:
        DatabaseError: the database is away.
    """
    figures = _Figures()
    with in_index_order():
        return _read(span, figures)


def _read(span: Span, figures: _Figures) -> Overview:
    now = selectors.database_now()
    lateness, of = _lateness()
    seen = _seen(now, figures)
    return Overview(
        now=now,
        depths=[figures.depth(status) for status in WAITING],
        dead_letters=counting.count_dead_letters(),
        parked=figures.one("notifyq_parked") or 0,
        lateness_seconds=lateness,
        lateness_of=of,
        charts=_charts(span, now),
        webhook_backlog=seen.webhook_backlog,
        webhook_endpoints=figures.by_label("notifyq_webhook_endpoints", "state"),
        workers=seen.workers,
        breakers=seen.breakers,
        bulk_acts=seen.acts,
        oldest_due=seen.troubles.oldest_due,
        ended={ended.status: ended for ended in seen.troubles.ended},
        concerns=concerns(seen),
        is_incomplete=bool(figures.one("notifyq_scrape_failed")),
        kept_count=sum(kept.count for kept in seen.troubles.kept.values()),
        unconfirmed_age_seconds=figures.one("notifyq_reconciling_oldest_age_seconds") or 0.0,
        has_late_unconfirmed=bool(seen.troubles.unconfirmed),
    )


def _seen(now: datetime, figures: _Figures) -> Seen:
    workers = heartbeats.workers()
    pauses = list(selectors.active_pauses())
    return Seen(
        now=now,
        troubles=read_troubles(pauses),
        workers=workers,
        pauses=pauses,
        breakers=selectors.breakers(),
        acts=in_hand(is_delivering=any(worker.is_delivering for worker in workers)),
        suspects=figures.one("notifyq_suspects") or 0.0,
        webhook_age_seconds=figures.one("notifyq_webhook_oldest_due_age_seconds") or 0.0,
        webhook_backlog=int(_rows(_BACKLOG, COUNTED_MOST)[0][0]),
    )


class _Figures:
    """The gauges that Prometheus gets, which are bounded and kept for some seconds."""

    def __init__(self) -> None:
        self._samples = [sample for family in _collector.collect() for sample in family.samples]

    def one(self, name: str) -> float | None:
        return next((float(s.value) for s in self._samples if s.name == name), None)

    def by_label(self, name: str, label: str) -> dict[str, float]:
        return {s.labels[label]: float(s.value) for s in self._samples if s.name == name}

    def depth(self, status: Status) -> Depth:
        cells = {
            (s.labels["channel"], s.labels["priority"]): float(s.value)
            for s in self._samples
            if s.name == "notifyq_queue_depth" and s.labels["status"] == status
        }
        rows = [(channel, [Cell(p, cells.get((channel, p.name), 0.0)) for p in Priority]) for channel in Channel]
        return Depth(status, rows, sum(cells.values()))


def _charts(span: Span, now: datetime) -> dict[Status, Chart]:
    since = span.since(now)
    outcomes = counting.count_outcomes(since, span.step.total_seconds())
    return {
        status: chart(span, since, [(at, count) for at, found, count in outcomes if found is status])
        for status in _SERIES
    }


def _lateness() -> tuple[list[float] | None, int]:
    ((percentiles, count),) = _rows(_LATENESS, LATEST)
    return percentiles, int(count)


def _rows(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
