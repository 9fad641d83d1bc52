"""The Event Webhook of SendGrid.

Source: SendGrid's pages on the Event Webhook and its security features, and its helper library (sendgrid 6.12),
2026-11. Custom arguments stand at the top level of each event. Repeats are announced, so events have an id.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_der_public_key

from notifications.receipts.base import Call, Receipt, Received, Receiver, Refused, check_fresh, loads, received_of
from notifications.receipts.making import of_epoch, receipt
from notifications.receipts.status import DeliveryStatus as To

KEY_NAME = "notifyq_id"
_HEADER = "x-twilio-email-event-webhook-"
_STATUSES = {
    "processed": To.ACCEPTED,
    "deferred": To.DELAYED,
    "delivered": To.DELIVERED,
    "open": To.OPENED,
    "click": To.OPENED,
    "dropped": To.REJECTED,
    "bounce": To.BOUNCED,
    "spamreport": To.COMPLAINED,
}


class SendGridReceiver(Receiver):
    """Its secrets are the public keys that SendGrid shows when the signature is switched on."""

    kind = "sendgrid"
    good_form: ClassVar[re.Pattern[str]] = re.compile(r"[A-Za-z0-9+/]+={0,2}")
    good_looks: ClassVar[str] = "the public keys that SendGrid shows: base64, without the BEGIN and END lines"

    def __init__(self, name: str, secrets: Sequence[str]) -> None:
        super().__init__(name, secrets)
        keys = [_public_key(secret) for secret in secrets]
        self._keys = [key for key in keys if key is not None]
        if len(self._keys) < len(keys):
            raise self.unusable()

    def receive(self, call: Call, *, now: datetime) -> Received:
        timestamp = call.headers.get(f"{_HEADER}timestamp", "")
        self._verify(call.headers.get(f"{_HEADER}signature", ""), timestamp.encode() + call.body)
        check_fresh(timestamp, now, self.kind)
        return received_of(loads(call.body), self._receipt)

    def _verify(self, given: str, signed: bytes) -> None:
        if not given:
            raise Refused("no_signature")
        try:
            raw = base64.b64decode(given, validate=True)
        except (binascii.Error, ValueError):
            raise Refused("bad_signature") from None
        if not any(_is_signed(key, raw, signed) for key in self._keys):
            raise Refused("bad_signature")

    def _receipt(self, event: dict[str, Any]) -> Receipt | None:
        kind = str(event.get("event"))
        status = _STATUSES.get(kind)
        if kind == "bounce" and event.get("type") == "blocked":
            status = To.UNDELIVERED  # the other side refuses for now, not this address for good
        if status is None or not event.get("sg_event_id"):
            return None
        return receipt(
            self.name,
            status,
            key=event.get(KEY_NAME),
            # What was answered to the send is its first part.
            message_id=str(event.get("sg_message_id") or "").partition(".")[0],
            event=(event["sg_event_id"],),
            word=kind,
            code=event.get("status") or event.get("bounce_classification"),
            text=event.get("reason") or event.get("response"),
            at=of_epoch(event.get("timestamp")),
        )


def _is_signed(key: ec.EllipticCurvePublicKey, raw: bytes, signed: bytes) -> bool:
    try:
        key.verify(raw, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def _public_key(secret: str) -> ec.EllipticCurvePublicKey | None:
    """None where it is none of the curve that SendGrid signs with."""
    try:
        key = load_der_public_key(base64.b64decode(secret, validate=True))
    except (binascii.Error, ValueError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1) else None
