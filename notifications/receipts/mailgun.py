"""Webhooks of Mailgun.

Source: Mailgun's pages on webhooks and on securing them, and the view of django-anymail 15.2, 2026-11. The signature
covers a timestamp and a token but not the body, so each token is taken once. It repeats for eight hours whatever is
answered with anything but 200 and 406.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from notifications.receipts.base import (
    Call,
    Received,
    Receiver,
    Refused,
    Unreadable,
    check_fresh,
    part,
    same,
    signed_object,
)
from notifications.receipts.making import of_epoch, receipt
from notifications.receipts.status import DeliveryStatus as To

KEY_NAME = "notifyq_id"
_TOKEN_MAX_LENGTH = 100
_STATUSES = {
    "accepted": To.ACCEPTED,
    "delivered": To.DELIVERED,
    "opened": To.OPENED,
    "clicked": To.OPENED,
    "rejected": To.REJECTED,
    "complained": To.COMPLAINED,
}


class MailgunReceiver(Receiver):
    """Its secrets are the webhook signing keys."""

    kind = "mailgun"
    unreadable_status = 406
    good_looks: ClassVar[str] = "the HTTP webhook signing key of Mailgun, at least 8 characters without spaces"

    def receive(self, call: Call, *, now: datetime) -> Received:
        body = signed_object(call.body)
        token = self._verify(part(body, "signature"), now)
        event = body.get("event-data")
        if not isinstance(event, dict):
            raise Unreadable("there is no event in it")
        return self._read(event, token)

    def _verify(self, signed: Mapping[str, Any], now: datetime) -> str:
        timestamp, token, given = (str(signed.get(name) or "") for name in ("timestamp", "token", "signature"))
        if not (given and token) or len(token) > _TOKEN_MAX_LENGTH:
            raise Refused("no_signature")
        if not any(same(signature(secret, timestamp, token), given) for secret in self._secrets):
            raise Refused("bad_signature")
        check_fresh(timestamp, now, self.kind)
        return token

    def _read(self, event: Mapping[str, Any], token: str) -> Received:
        status = _status(event)
        if status is None or not event.get("id"):
            return Received(token=token)
        message_id = part(part(event, "message"), "headers").get("message-id")
        told = part(event, "delivery-status")
        made = receipt(
            self.name,
            status,
            key=part(event, "user-variables").get(KEY_NAME),
            message_id=f"<{message_id.strip('<>')}>" if isinstance(message_id, str) and message_id else "",
            event=(event["id"],),
            word=str(event["event"]),
            code=told.get("code") or event.get("reason"),
            text=told.get("message") or told.get("description"),
            at=of_epoch(event.get("timestamp")),
        )
        return Received((made,), token=token)


def signature(secret: str, timestamp: str, token: str) -> str:
    """What Mailgun puts beside its timestamp and token."""
    return hmac.new(secret.encode(), f"{timestamp}{token}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _status(event: Mapping[str, Any]) -> To | None:
    kind = str(event.get("event"))
    if kind != "failed":
        return _STATUSES.get(kind)
    reason = str(event.get("reason") or "")
    if event.get("severity") == "temporary":
        return To.DELAYED
    if reason.startswith("suppress-"):
        return To.REJECTED  # Mailgun itself keeps from sending to such an address
    return To.BOUNCED if reason == "bounce" else To.UNDELIVERED
