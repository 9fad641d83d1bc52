"""Take in a callback of a provider: checked, stored once, and counted."""

from __future__ import annotations

import hashlib
import logging
from datetime import UTC, datetime

from django.conf import settings

from notifications import metrics, queue
from notifications.receipts import Call, Receiver, Refused, Unreadable
from notifications.receipts.base import Unavailable

log = logging.getLogger(__name__)

REPLAYED = "replayed"


def receiver_of(provider: str) -> Receiver | None:
    """Who reads the callbacks of this provider; None when none is configured."""
    receiver: Receiver | None = settings.RECEIVERS.get(provider)
    return receiver


def receive(receiver: Receiver, call: Call) -> None:
    """Take in one callback. When this returns, what it reports is stored for good. Safe to repeat.

    Raises:
        Refused: nothing proves that the vendor sent it; counted.
        Unreadable: the vendor should not repeat it.
        Unavailable: the vendor should repeat it.
        DatabaseError: nothing was stored; the vendor should repeat it.

    Transaction: one short one.
    """
    try:
        _receive(receiver, call)
    except Refused as refused:
        _refused(receiver, refused.reason)
        raise
    except Unreadable:
        _refused(receiver, "unreadable")
        raise
    except Unavailable as error:
        log.warning("receipt_not_checked", extra={"provider": receiver.name, "reason": error.reason})
        raise


def _receive(receiver: Receiver, call: Call) -> None:
    received = receiver.receive(call, now=datetime.now(UTC))
    if received.confirm_url:
        receiver.confirm(received.confirm_url)
        log.info("receipts_confirmed", extra={"provider": receiver.name})
    if received.skipped_count:
        metrics.record_receipts_skipped(receiver.name, received.skipped_count)
        log.warning("receipts_skipped", extra={"provider": receiver.name, "count": received.skipped_count})
    if not (received.receipts or received.token):
        return
    once = None
    if received.token:
        once = queue.Once(receiver.name, received.token, hashlib.sha256(call.body).digest())
    try:
        taken = queue.receive(received.receipts, once)
    except queue.TokenUsed:
        raise Refused(REPLAYED) from None
    metrics.record_receipts(taken.new)
    metrics.record_finished(taken.credited.confirmed)
    if taken.credited.stray:
        metrics.record_receipts_not_credited(taken.credited.stray)
        count = taken.credited.stray.total()
        log.warning("receipts_not_credited", extra={"provider": receiver.name, "count": count})


def _refused(receiver: Receiver, reason: str) -> None:
    metrics.record_receipt_refused(receiver.name, reason)
    log.warning("receipt_refused", extra={"provider": receiver.name, "reason": reason})
