"""Callbacks of the sandbox provider, the simulated vendor: JSON with a list of events, signed by HMAC-SHA256."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import Any

from notifications.receipts.base import (
    Call,
    Receipt,
    Received,
    Receiver,
    Refused,
    check_fresh,
    loads,
    received_of,
    same,
)
from notifications.receipts.making import of_text, receipt
from notifications.receipts.status import DeliveryStatus

SIGNATURE_HEADER = "x-sandbox-signature"
TIMESTAMP_HEADER = "x-sandbox-timestamp"
_STATUSES = {status.value: status for status in DeliveryStatus}


class SandboxReceiver(Receiver):
    """Each event is `{id, key, messageId, status, code, text, at}`, its status one of ours."""

    kind = "sandbox"

    def receive(self, call: Call, *, now: datetime) -> Received:
        given, timestamp = call.headers.get(SIGNATURE_HEADER, ""), call.headers.get(TIMESTAMP_HEADER, "")
        if not given:
            raise Refused("no_signature")
        if not any(same(signature(secret, timestamp, call.body), given) for secret in self._secrets):
            raise Refused("bad_signature")
        check_fresh(timestamp, now, self.kind)
        return received_of(loads(call.body), self._receipt)

    def _receipt(self, event: dict[str, Any]) -> Receipt | None:
        status = _STATUSES.get(str(event.get("status")))
        if status is None or not event.get("id"):
            return None
        return receipt(
            self.name,
            status,
            key=event.get("key"),
            message_id=event.get("messageId"),
            event=(event["id"],),
            word=status.value,
            code=event.get("code"),
            text=event.get("text"),
            at=of_text(event.get("at")),
        )


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What the header holds: over the timestamp, a dot and the body."""
    return hmac.new(secret.encode(), timestamp.encode("utf-8", "replace") + b"." + body, hashlib.sha256).hexdigest()
