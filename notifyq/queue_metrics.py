"""What the database knows about the queue, read when Prometheus asks."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import psycopg
from django.conf import settings
from prometheus_client.core import GaugeMetricFamily, Metric

from notifications.breaker import BreakerState
from notifications.channel import Channel, Priority
from notifications.counting import OLDEST_DUE
from notifications.pausing import PauseScope
from notifications.status import Status
from notifyq.runtime.logs import describe_error
from notifyq.runtime.probe import Probe, probe

log = logging.getLogger(__name__)

SCRAPE_SECONDS = 4.0
STATEMENT_SECONDS = 2.0
CACHE_SECONDS = 5.0
CACHE_SHARE = 20
CACHE_MOST_SECONDS = 60.0
"""A slow look is kept for 20 times its own duration, so that scraping costs about a twentieth of a backend."""
COUNTED_MOST = 10_000
"""How far one channel and priority is counted; beyond it the planner's estimate stands in. Counting a backlog of
hundreds of thousands takes over a second where the pages have just changed, and slows down those who work it off."""
COUNTED_LEAST = 1_000
"""How far each is counted once all together took COUNTING_SECONDS, as they do where the pages have just changed."""
COUNTING_SECONDS = 0.02

# The orders name the index: without them, a table that was never analyzed is read through another one.
# Index notification_claim_channel, index-only but for pages changed since the last vacuum.
WAITING = """
SELECT count(*) FROM (
       SELECT 1 FROM notifications_notification
        WHERE status = 'PENDING' AND NOT suspect AND parked_by IS NULL
          AND channel = %(channel)s AND rank = %(priority)s
        ORDER BY channel, rank, due_at, id LIMIT %(most)s) AS capped
"""
ESTIMATE = "EXPLAIN (FORMAT JSON) SELECT 1 FROM notifications_notification WHERE {where}"
# Some pages of the table, of which nothing is known yet: what they hold stands for the others.
SAMPLE = """
SELECT channel, rank, round(count(*) / part.share) FROM (
       SELECT least(1, %(pages)s * current_setting('block_size')::float8
                       / greatest(1, pg_relation_size('notifications_notification'))) AS share) AS part
 CROSS JOIN LATERAL (
       SELECT channel, rank FROM notifications_notification TABLESAMPLE SYSTEM (100 * part.share)
        WHERE {where}) AS sampled
 GROUP BY channel, rank, part.share
"""
SAMPLED_PAGES = 500
WHERE_WAITING = "status = 'PENDING' AND NOT suspect AND parked_by IS NULL"
WHERE_WAITING_OF = f"{WHERE_WAITING} AND channel = %(channel)s AND rank = %(priority)s"
WHERE_PARKED = "parked_by IS NOT NULL"
WHERE_RECONCILING = "status = 'RECONCILING'"
# Index notification_suspect: a handful of rows.
SUSPECT = """
SELECT channel, priority, count(*) FROM notifications_notification
 WHERE status = 'PENDING' AND suspect AND parked_by IS NULL GROUP BY channel, priority
"""
# Index notification_parked: what waits behind a full rate limit or is paused; its rows are read, so only so many.
PARKED = """
SELECT channel, priority, count(*) FROM (
       SELECT channel, priority FROM notifications_notification
        WHERE parked_by IS NOT NULL ORDER BY parked_by, rank LIMIT %(most)s) AS capped
 GROUP BY channel, priority
"""
# Index notification_lease: exactly the PROCESSING rows have a lease, no more than the workers have seats.
PROCESSING = """
SELECT channel, priority, count(*), count(*) FILTER (WHERE lease_expires_at < now()) FROM (
       SELECT channel, priority, lease_expires_at FROM notifications_notification
        WHERE lease_expires_at IS NOT NULL ORDER BY lease_expires_at LIMIT %(most)s) AS capped
 GROUP BY channel, priority
"""
# Index notification_undelivered: the oldest of them, so that the one unconfirmed for longest is among them.
RECONCILING = """
SELECT channel, priority, count(*), max(extract(epoch FROM now() - unconfirmed_at))::float8 FROM (
       SELECT channel, priority, unconfirmed_at FROM notifications_notification
        WHERE status = 'RECONCILING' ORDER BY finished_at, id LIMIT %(most)s) AS capped
 GROUP BY channel, priority
"""
# Index receipt_waiting.
RECEIPTS = """
SELECT count(*) FROM (
       SELECT 1 FROM notifications_receipt WHERE look_at IS NOT NULL LIMIT %(most)s) AS capped
"""
WORKERS = """
SELECT role, extract(epoch FROM now() - max(beat_at))::float8,
       count(*) FILTER (WHERE beat_at > now() - make_interval(secs => %(most)s))
  FROM notifications_worker GROUP BY role
"""
PAUSES = "SELECT scope, count(*) FROM notifications_pause WHERE ended_at IS NULL GROUP BY scope"
BREAKERS = "SELECT channel, provider, state FROM notifications_providerhealth"
# A snapshot held open makes every claim step over dead rows. Other users' sessions are only visible to pg_monitor.
OLDEST_TRANSACTION = """
SELECT coalesce(extract(epoch FROM max(now() - xact_start)), 0)::float8
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# Index webhook_event_claim, its first entry for each endpoint; endpoints are few.
WEBHOOKS = """
SELECT count(*) FILTER (WHERE p.enabled), count(*) FILTER (WHERE p.enabled AND p.failing_since IS NOT NULL),
       count(*) FILTER (WHERE p.disabled_reason <> ''),
       coalesce(extract(epoch FROM now() - min(head.due_at) FILTER (WHERE p.failing_since IS NULL)), 0)::float8
  FROM webhooks_webhookendpoint AS p
  LEFT JOIN LATERAL (
       SELECT due_at FROM webhooks_webhookevent AS e
        WHERE e.status = 'PENDING' AND e.endpoint_id = p.id AND e.due_at <= now() AND p.enabled
        ORDER BY e.endpoint_id, e.due_at, e.id LIMIT 1) AS head ON TRUE
 WHERE p.deleted_at IS NULL
"""
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "notifyq_queue_depth": (
        f"Notifications not yet finished; an estimate beyond {COUNTED_MOST} waiting of a channel and priority "
        f"({COUNTED_LEAST} if counting takes long), and beyond {COUNTED_MOST} in all of others.",
        ("status", "channel", "priority"),
    ),
    "notifyq_oldest_due_age_seconds": ("How long the oldest due notification has been waiting.", ()),
    "notifyq_parked": (
        f"Notifications behind a full rate limit, or paused; beyond {COUNTED_MOST}, an estimate.",
        (),
    ),
    "notifyq_receipts_waiting": (
        f"Receipts whose notification is not there yet, or held; {COUNTED_MOST} stands for at least so many.",
        (),
    ),
    "notifyq_suspects": ("Notifications that wait to be tried alone, since a worker died holding them.", ()),
    "notifyq_leases_expired": ("Notifications held beyond their lease and not yet taken back.", ()),
    "notifyq_reconciling_oldest_age_seconds": (
        "Since the oldest send of which nobody knows what became of it, and whose provider is being asked.",
        (),
    ),
    "notifyq_pauses": ("Pauses in force.", ("scope",)),
    "notifyq_breaker_state": (
        "A provider's breaker: 0 closed, 1 while one call is tried, 2 open.",
        ("channel", "provider"),
    ),
    "notifyq_channel_unavailable": ("1 when no provider of the channel has a closed breaker.", ("channel",)),
    "notifyq_workers": ("Worker processes heard of lately.", ("role",)),
    "notifyq_worker_heartbeat_age_seconds": ("Since the freshest heartbeat of a role.", ("role",)),
    "notifyq_oldest_transaction_age_seconds": ("The longest open transaction: while it lasts, dead rows stay.", ()),
    "notifyq_webhook_endpoints": (
        "Webhook endpoints by state; `disabled` by the service, `failing` ones are also enabled.",
        ("state",),
    ),
    "notifyq_webhook_oldest_due_age_seconds": (
        "How long the oldest due webhook event has been waiting, those for failing endpoints left out.",
        (),
    ),
    "notifyq_scrape_failed": ("1 if figures that come from the database are missing.", ()),
}
BREAKER_LEVELS = {BreakerState.CLOSED: 0, BreakerState.HALF_OPEN: 1, BreakerState.OPEN: 2}
PRIORITIES = {"priorities": [p.value for p in Priority]}
CELLS = tuple((channel.value, priority.value) for channel, priority in product(Channel, Priority))


class QueueCollector:
    """Gauges of the queue for a Prometheus registry. Never raises for the database's sake: what it has, it gives."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._families: list[Metric] = []
        self._fresh_until = float("-inf")

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            if time.monotonic() >= self._fresh_until:
                began = time.monotonic()
                self._families = _read_all()
                took = time.monotonic() - began
                kept = min(CACHE_MOST_SECONDS, max(CACHE_SECONDS, CACHE_SHARE * took))
                self._fresh_until = began + took + kept
            return self._families

    def forget(self) -> None:
        self._fresh_until = float("-inf")


Cell = tuple[str, int, int]
"""(channel, priority, count)"""


class Part(Protocol):
    """One look at the database; sets figures, or raises and leaves the others alone."""

    __name__: str

    def __call__(self, looking: Probe, figures: _Figures, /) -> None: ...


class _Figures:
    """The gauges that could be read."""

    def __init__(self) -> None:
        self._families: dict[str, GaugeMetricFamily] = {}

    def set(self, name: str, value: float, *labels: str) -> None:
        text, label_names = GAUGES[name]
        family = self._families.setdefault(name, GaugeMetricFamily(name, text, labels=label_names))
        family.add_metric(labels, float(value))

    def set_depth(self, status: Status, rows: Sequence[Sequence[Any]]) -> None:
        """One gauge for each channel and priority, also for those without a row (channel, priority, count)."""
        counts = Tally({(c.value, p.value): 0 for c in Channel for p in Priority})
        for channel, priority, count in rows:
            counts[channel, priority] += count
        for (channel, priority), count in counts.items():
            self.set("notifyq_queue_depth", count, status, channel, Priority(priority).name)

    def families(self) -> list[Metric]:
        return list(self._families.values())


def _read_all() -> list[Metric]:
    figures = _Figures()
    failed = 0
    try:
        with probe(SCRAPE_SECONDS) as looking:
            failed = sum(not _read(part, looking, figures) for part in PARTS)
    except psycopg.Error as error:
        failed = 1
        log.warning("metrics_without_database", extra={"reason": describe_error(error)})
    figures.set("notifyq_scrape_failed", 1 if failed else 0)
    return figures.families()


def _read(part: Part, looking: Probe, figures: _Figures) -> bool:
    try:
        part(looking, figures)
    except psycopg.Error as error:
        log.warning("metrics_part_failed", extra={"part": part.__name__.lstrip("_"), "reason": describe_error(error)})
        return False
    return True


def _oldest_due(looking: Probe, figures: _Figures) -> None:
    ((age,),) = looking.rows(OLDEST_DUE, PRIORITIES, seconds=STATEMENT_SECONDS)
    figures.set("notifyq_oldest_due_age_seconds", age or 0)


def _workers(looking: Probe, figures: _Figures) -> None:
    most = settings.NOTIFYQ.worker_silent_after_seconds
    for role, age, count in looking.rows(WORKERS, {"most": most}, seconds=STATEMENT_SECONDS):
        figures.set("notifyq_worker_heartbeat_age_seconds", age, role)
        figures.set("notifyq_workers", count, role)


def _pauses(looking: Probe, figures: _Figures) -> None:
    counts = {row[0]: row[1] for row in looking.rows(PAUSES, seconds=STATEMENT_SECONDS)}
    for scope in PauseScope:
        figures.set("notifyq_pauses", counts.get(scope.value, 0), scope)


def _breakers(looking: Probe, figures: _Figures) -> None:
    rows = looking.rows(BREAKERS, seconds=STATEMENT_SECONDS)
    states = {(channel, provider): BreakerState(state) for channel, provider, state in rows}
    for channel, chain in settings.NOTIFYQ.provider_chains.items():
        found = {name: states.get((channel, name), BreakerState.CLOSED) for name in chain}
        for name, state in found.items():
            figures.set("notifyq_breaker_state", BREAKER_LEVELS[state], channel, name)
        figures.set("notifyq_channel_unavailable", BreakerState.CLOSED not in found.values(), channel)


def _processing(looking: Probe, figures: _Figures) -> None:
    rows = looking.rows(PROCESSING, {"most": COUNTED_MOST}, seconds=STATEMENT_SECONDS)
    figures.set_depth(Status.PROCESSING, [row[:3] for row in rows])
    figures.set("notifyq_leases_expired", sum(row[3] for row in rows))


def _pending(looking: Probe, figures: _Figures) -> None:
    suspect = looking.rows(SUSPECT, seconds=STATEMENT_SECONDS)
    figures.set("notifyq_suspects", sum(row[2] for row in suspect))
    parked = _or_estimates(
        looking, WHERE_PARKED, looking.rows(PARKED, {"most": COUNTED_MOST}, seconds=STATEMENT_SECONDS)
    )
    figures.set("notifyq_parked", sum(count for *_, count in parked))
    figures.set_depth(Status.PENDING, [*_waiting(looking), *suspect, *parked])


def _waiting(looking: Probe) -> list[Cell]:
    """Each up to COUNTED_MOST; estimates where that is not all."""
    began = time.monotonic()
    counted, estimates = {}, {}
    for channel, priority in CELLS:
        most = COUNTED_MOST if time.monotonic() - began < COUNTING_SECONDS else COUNTED_LEAST
        values = {"channel": channel, "priority": priority}
        ((count,),) = looking.rows(WAITING, {**values, "most": most}, seconds=STATEMENT_SECONDS)
        counted[channel, priority] = count
        if count >= most:
            estimates[channel, priority] = _estimate(looking, WHERE_WAITING_OF, values)
    if estimates and max(estimates.values()) <= max(counted.values()):
        estimates = {key: count for key, count in _sample(looking, WHERE_WAITING).items() if key in estimates}
    return [(*key, max(count, estimates.get(key, 0))) for key, count in counted.items()]


def _or_estimates(looking: Probe, where: str, rows: Sequence[Sequence[Any]]) -> list[Cell]:
    """What was counted, up to COUNTED_MOST in all; where that is not all, as many times as much as there are more."""
    total = counted = sum(row[2] for row in rows)
    if counted >= COUNTED_MOST:
        total = _estimate(looking, where, {})
        if total <= counted:
            total = max(counted, sum(_sample(looking, where).values()))
    return [(row[0], row[1], round(row[2] * total / counted)) for row in rows]


def _estimate(looking: Probe, where: str, values: Mapping[str, object]) -> int:
    """The planner's; 1 where it knows of none."""
    ((plan,),) = looking.rows(ESTIMATE.format(where=where), values, seconds=STATEMENT_SECONDS)
    return int(plan[0]["Plan"]["Plan Rows"])


def _sample(looking: Probe, where: str) -> dict[tuple[str, int], int]:
    """What is not known to the planner as long as the table was never analyzed."""
    rows = looking.rows(SAMPLE.format(where=where), {"pages": SAMPLED_PAGES}, seconds=STATEMENT_SECONDS)
    return {(channel, priority): int(count) for channel, priority, count in rows}


def _reconciling(looking: Probe, figures: _Figures) -> None:
    rows = looking.rows(RECONCILING, {"most": COUNTED_MOST}, seconds=STATEMENT_SECONDS)
    figures.set_depth(Status.RECONCILING, _or_estimates(looking, WHERE_RECONCILING, rows))
    figures.set("notifyq_reconciling_oldest_age_seconds", max((row[3] or 0.0 for row in rows), default=0.0))


def _receipts(looking: Probe, figures: _Figures) -> None:
    ((count,),) = looking.rows(RECEIPTS, {"most": COUNTED_MOST}, seconds=STATEMENT_SECONDS)
    figures.set("notifyq_receipts_waiting", count)


def _oldest_transaction(looking: Probe, figures: _Figures) -> None:
    ((age,),) = looking.rows(OLDEST_TRANSACTION, seconds=STATEMENT_SECONDS)
    figures.set("notifyq_oldest_transaction_age_seconds", age)


def _webhooks(looking: Probe, figures: _Figures) -> None:
    ((*counts, age),) = looking.rows(WEBHOOKS, seconds=STATEMENT_SECONDS)
    for state, count in zip(("enabled", "failing", "disabled"), counts, strict=True):
        figures.set("notifyq_webhook_endpoints", count, state)
    figures.set("notifyq_webhook_oldest_due_age_seconds", age)


# What an alert hangs on first, what may take long last: they share one deadline.
PARTS: tuple[Part, ...] = (
    _oldest_due,
    _workers,
    _pauses,
    _breakers,
    _processing,
    _oldest_transaction,
    _webhooks,
    _pending,
    _reconciling,
    _receipts,
)
