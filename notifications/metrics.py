"""Every metric that the delivery workers keep. Call each function once for a batch, not once for a notification.

Labels are bounded: channels, statuses and outcomes are closed lists, providers are those of the configured chains.
A metric must never stop a delivery: when its file cannot be written, the count is lost and the log says so.
"""

from __future__ import annotations

import logging
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import ParamSpec

from prometheus_client import Counter

from notifyq.runtime.metrics import BatchHistogram

log = logging.getLogger(__name__)
P = ParamSpec("P")

SQL_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SEND_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
LATENESS_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)

CLAIMS = BatchHistogram("notifyq_claim_seconds", "Time of one claim, its commit included.", buckets=SQL_BUCKETS)
CLAIMED = Counter("notifyq_claimed_total", "Notifications claimed.")
ATTEMPTS = Counter("notifyq_attempts_total", "Calls to providers, by outcome.", ["channel", "provider", "outcome"])
ATTEMPT_SECONDS = BatchHistogram(
    "notifyq_attempt_seconds", "Time of one call to a provider.", ["channel", "provider"], buckets=SEND_BUCKETS
)
LATENESS = BatchHistogram(
    "notifyq_send_lateness_seconds", "From the due time of a notification to its send.", buckets=LATENESS_BUCKETS
)
SETTLES = BatchHistogram("notifyq_settle_seconds", "Time to store one batch of verdicts.", buckets=SQL_BUCKETS)
SETTLED = Counter("notifyq_settled_total", "Verdicts stored.")
STALE_SETTLES = Counter(
    "notifyq_stale_settles_total", "Verdicts refused: another worker holds the notification by now."
)
FINISHED = Counter("notifyq_finished_total", "Notifications that reached a final status.", ["status", "channel"])
RESCUED = Counter("notifyq_rescued_total", "Notifications taken back from a lost worker or an expired lease.")
RELEASED = Counter("notifyq_released_total", "Notifications given back unstarted.")
LOOK_UPS = Counter(
    "notifyq_look_ups_total", "Questions to providers about sends in doubt, by answer.", ["provider", "found"]
)
EXPIRED = Counter("notifyq_expired_total", "Notifications whose time to live ended before a send.")
RECEIPTS = Counter("notifyq_receipts_total", "Reports of providers on messages, by status.", ["provider", "status"])
RECEIPTS_REFUSED = Counter(
    "notifyq_receipts_refused_total", "Callbacks that were not taken, by reason.", ["provider", "reason"]
)
RECEIPTS_NOT_CREDITED = Counter(
    "notifyq_receipts_not_credited_total",
    "Reports on what was not sent through who reports.",
    ["provider"],
)
RECEIPTS_SKIPPED = Counter(
    "notifyq_receipts_skipped_total", "Items of genuine callbacks that were no reports.", ["provider"]
)
BREAKER_TRIPS = Counter(
    "notifyq_breaker_trips_total",
    "Openings of a provider's breaker, by failures and by operators.",
    ["channel", "provider"],
)
ROUND_ERRORS = Counter("notifyq_round_errors_total", "Rounds of a worker's loop that ended in an error.", ["loop"])


def harmless(record: Callable[P, None]) -> Callable[P, None]:
    """Have a failing count cost nothing but itself."""

    @wraps(record)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            record(*args, **kwargs)
        except OSError as error:  # the directory vanished or the disk is full
            log.warning("metric_not_recorded", extra={"metric": record.__name__, "reason": error.strerror})

    return guarded


@harmless
def record_claim(row_count: int, seconds: float) -> None:
    """One claim statement and how many rows it took (also none)."""
    CLAIMS.observe(seconds)
    CLAIMED.inc(row_count)


@harmless
def record_attempts(attempts: Sequence[tuple[str, str, str, float]]) -> None:
    """The calls of one batch, each as (channel, provider, outcome, seconds)."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for channel, provider, _, duration in attempts:
        seconds[channel, provider].append(duration)
    for labels, durations in seconds.items():
        ATTEMPT_SECONDS.labels(*labels).observe_many(durations)
    for (channel, provider, outcome), count in Tally(attempt[:3] for attempt in attempts).items():
        ATTEMPTS.labels(channel, provider, outcome).inc(count)


@harmless
def record_lateness(seconds: Sequence[float]) -> None:
    """For each send of a batch, its start minus its due time."""
    LATENESS.observe_many(seconds)


@harmless
def record_finished(counts: Mapping[tuple[str, str], int]) -> None:
    """How many of each (status, channel) reached that final status."""
    for (status, channel), count in counts.items():
        FINISHED.labels(status, channel).inc(count)


@harmless
def record_settle(row_count: int, seconds: float) -> None:
    """One settle statement and how many verdicts it stored."""
    SETTLES.observe(seconds)
    SETTLED.inc(row_count)


@harmless
def record_stale_settles(count: int) -> None:
    """Verdicts that came after another worker had taken the notification over."""
    STALE_SETTLES.inc(count)


@harmless
def record_rescued(count: int) -> None:
    """Notifications taken back from a lost worker or an expired lease."""
    RESCUED.inc(count)


@harmless
def record_released(count: int) -> None:
    """Notifications given back unstarted."""
    RELEASED.inc(count)


@harmless
def record_look_ups(counts: Mapping[tuple[str, str], int]) -> None:
    """How often each (provider, found) was the answer to a question about a send in doubt."""
    for (provider, found), count in counts.items():
        LOOK_UPS.labels(provider, found).inc(count)


@harmless
def record_expired(count: int) -> None:
    """Notifications whose time to live ended before a send."""
    EXPIRED.inc(count)


@harmless
def record_receipts(counts: Mapping[tuple[str, str], int]) -> None:
    """How many new reports there are of each (provider, status)."""
    for (provider, status), count in counts.items():
        RECEIPTS.labels(provider, status).inc(count)


@harmless
def record_receipt_refused(provider: str, reason: str) -> None:
    """A callback of a configured provider was not taken for `reason`, a fixed word."""
    RECEIPTS_REFUSED.labels(provider, reason).inc()


@harmless
def record_receipts_not_credited(counts: Mapping[str, int]) -> None:
    """How many reports of each provider were on notifications that did not go through it."""
    for provider, count in counts.items():
        RECEIPTS_NOT_CREDITED.labels(provider).inc(count)


@harmless
def record_receipts_skipped(provider: str, count: int) -> None:
    """Items beside good ones in a genuine callback that were no objects."""
    RECEIPTS_SKIPPED.labels(provider).inc(count)


def record_breaker_trip(channel: str, provider: str) -> None:
    """The breaker of a provider has opened."""
    BREAKER_TRIPS.labels(channel, provider).inc()


@harmless
def record_round_error(loop: str) -> None:
    """A round of `loop` (claim, settle, rescue, …: a fixed word) ended in an error."""
    ROUND_ERRORS.labels(loop).inc()
