"""The grounds on which the console shows the states of webhook events."""

from __future__ import annotations

from webhooks.status import EventStatus

TONES = {
    EventStatus.PENDING: "wait",
    EventStatus.PROCESSING: "busy",
    EventStatus.DELIVERED: "good",
    EventStatus.FAILED: "bad",
    EventStatus.CANCELLED: "quiet",
}
