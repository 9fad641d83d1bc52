"""The grounds on which the console shows words: they help to find them, and never say anything alone."""

from __future__ import annotations

from notifications.receipts import DeliveryStatus
from notifications.status import Status
from notifications.verdict import Found, Outcome

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
FOUND_TONES = {Found.ACCEPTED: "good", Found.REJECTED: "bad", Found.ABSENT: "quiet", Found.UNKNOWN: "wait"}
DELIVERY_TONES = {
    DeliveryStatus.ACCEPTED: "busy",
    DeliveryStatus.DELAYED: "wait",
    DeliveryStatus.REJECTED: "bad",
    DeliveryStatus.DELIVERED: "good",
    DeliveryStatus.OPENED: "good",
    DeliveryStatus.UNDELIVERED: "bad",
    DeliveryStatus.BOUNCED: "bad",
    DeliveryStatus.COMPLAINED: "bad",
}
