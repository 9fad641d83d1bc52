"""The grounds on which the console shows words: they help to find them, and never say anything alone."""

from __future__ import annotations

from notifications.status import Status
from notifications.verdict import Outcome

STATUS_TONES = {
    Status.PENDING: "wait",
    Status.PROCESSING: "busy",
    Status.RECONCILING: "busy",
    Status.SENT: "good",
    Status.FAILED: "bad",
    Status.DEAD_LETTERED: "bad",
    Status.CANCELLED: "quiet",
    Status.EXPIRED: "quiet",
}
OUTCOME_TONES = {
    Outcome.ACCEPTED: "good",
    Outcome.REJECTED: "bad",
    Outcome.TEMPORARY: "wait",
    Outcome.PROVIDER_FAULT: "bad",
    Outcome.UNCONFIRMED: "wait",
    Outcome.LOST: "bad",
}
