"""When the device that a push was meant for is gone, and the person has the same in the inbox. Pure, no database."""

from __future__ import annotations

from dataclasses import replace

from notifications.outcome import Decision
from notifications.providers.push import devices
from notifications.status import Status

NO_PUSH_TARGET = "no_push_target"
"""The reason of a push that is SENT without a device: its in-app copy is there."""

NO_DEVICE = frozenset({"recipient_rejected", devices.UNREGISTERED, devices.EXPIRED, devices.INVALID, devices.FOREIGN})
"""Codes of rejections that say that the device's address is no good. Only these: whatever else a push is rejected for
fails it, and an outcome that nobody knows is no rejection at all."""


def lost_its_device(decision: Decision) -> bool:
    """Whether a push ends because there is no such device: it was rejected for good, and for that."""
    return decision.status is Status.FAILED and decision.error_code in NO_DEVICE


def told_by_its_copy(decision: Decision) -> Decision:
    """What becomes of such a push when the person has the in-app copy."""
    return replace(
        decision,
        status=Status.SENT,
        error_code=NO_PUSH_TARGET,
        error_message="there is no such device any more; the person has the in-app copy",
    )
