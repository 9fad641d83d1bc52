"""Every metric that the dispatchers keep. Labels are bounded: outcomes and reasons are closed lists.

A metric must never stop a delivery: when its file cannot be written, the count is lost and the log says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prometheus_client import Counter

from notifications.metrics import LATENESS_BUCKETS, ROUND_ERRORS, SEND_BUCKETS, harmless
from notifyq.runtime.metrics import BatchHistogram
from webhooks.status import EventStatus

ATTEMPTS = Counter(
    "notifyq_webhook_attempts_total", "Calls to webhook endpoints, by where they led the event.", ["outcome"]
)
ATTEMPT_SECONDS = BatchHistogram(
    "notifyq_webhook_attempt_seconds", "Time of one call to a webhook endpoint.", buckets=SEND_BUCKETS
)
LATENESS = BatchHistogram(
    "notifyq_webhook_lateness_seconds", "From the due time of a webhook event to its call.", buckets=LATENESS_BUCKETS
)
STALE = Counter("notifyq_webhook_stale_settles_total", "Results refused: another dispatcher holds the event by now.")
RESCUED = Counter("notifyq_webhook_rescued_total", "Webhook events taken back from an expired lease.")
CANCELLED = Counter("notifyq_webhook_cancelled_total", "Waiting webhook events of disabled or deleted endpoints.")
DISABLED = Counter("notifyq_webhook_endpoints_disabled_total", "Endpoints that the service disabled.", ["reason"])


@harmless
def record_attempts(
    outcomes: Mapping[EventStatus, int], seconds: Sequence[float], lateness: Sequence[float], stale_count: int
) -> None:
    """The results of one batch: how many by the status that followed (DELIVERED, PENDING, FAILED, CANCELLED)."""
    for outcome, count in outcomes.items():
        ATTEMPTS.labels(outcome).inc(count)
    ATTEMPT_SECONDS.observe_many(seconds)
    LATENESS.observe_many(lateness)
    STALE.inc(stale_count)


@harmless
def record_rescued(count: int) -> None:
    """Events taken back from an expired lease."""
    RESCUED.inc(count)


@harmless
def record_cancelled(count: int) -> None:
    """Waiting events of an endpoint that takes no more."""
    CANCELLED.inc(count)


@harmless
def record_endpoints_disabled(reason: str, count: int) -> None:
    """Endpoints that the service disabled, for one of `DisabledReason`."""
    DISABLED.labels(reason).inc(count)


@harmless
def record_round_error(loop: str) -> None:
    """A round of the dispatcher ended in an error; counted beside those of the delivery workers."""
    ROUND_ERRORS.labels(loop).inc()
