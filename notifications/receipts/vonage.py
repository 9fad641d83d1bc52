"""Status webhooks of the Messages API of Vonage.

Source: Vonage's pages on message status callbacks and on signed webhooks, and vonage-jwt 1.1.5 (which does not check
the hash of the body), 2026-11. The token is a JWT; its one algorithm is checked here by hand, so that no header of a
caller's has a say in how it is checked.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from datetime import datetime
from typing import Any, ClassVar

from notifications.receipts.base import (
    CLOCKS_DIFFER_SECONDS,
    Call,
    Received,
    Receiver,
    Refused,
    Unreadable,
    check_fresh,
    loads,
    part,
    same,
)
from notifications.receipts.making import of_text, receipt
from notifications.receipts.status import DeliveryStatus as To

_STATUSES = {
    "submitted": To.ACCEPTED,
    "delivered": To.DELIVERED,
    "read": To.OPENED,
    "undeliverable": To.UNDELIVERED,
    "rejected": To.REJECTED,
}


class VonageReceiver(Receiver):
    """Its secrets are the account's signature secrets."""

    kind = "vonage"
    good_looks: ClassVar[str] = "the signature secret of Vonage, at least 8 characters without spaces"

    def receive(self, call: Call, *, now: datetime) -> Received:
        claims = self._claims(call.headers.get("authorization", ""))
        if not same(hashlib.sha256(call.body).hexdigest(), str(claims.get("payload_hash") or "").lower()):
            raise Refused("bad_signature")
        _check_times(claims, now)
        body = loads(call.body)
        if not isinstance(body, dict):
            raise Unreadable("the body is no object")
        status, message_id = _STATUSES.get(str(body.get("status"))), body.get("message_uuid")
        if status is None or not message_id:
            return Received()
        error = part(body, "error")
        made = receipt(
            self.name,
            status,
            key=body.get("client_ref"),
            message_id=message_id,
            event=(message_id, status),
            word=str(body["status"]),
            code=error.get("title"),
            text=error.get("detail"),
            at=of_text(body.get("timestamp")),
        )
        return Received((made,))

    def _claims(self, authorization: str) -> dict[str, Any]:
        scheme, _, token = authorization.partition(" ")
        signed, dot, given = token.strip().rpartition(".")
        if scheme.lower() != "bearer" or not dot:
            raise Refused("no_signature")
        if not any(same(_signature(secret, signed), given) for secret in self._secrets):
            raise Refused("bad_signature")
        header, _, claims = signed.partition(".")
        if _decoded(header).get("alg") != "HS256":
            raise Refused("bad_signature")
        return _decoded(claims)


def _signature(secret: str, signed: str) -> str:
    digest = hmac.new(secret.encode(), signed.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _decoded(text: str) -> dict[str, Any]:
    try:
        found = loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, Unreadable):
        found = None
    if not isinstance(found, dict):
        raise Refused("bad_signature")
    return found


def _check_times(claims: dict[str, Any], now: datetime) -> None:
    """It has to say when it was made, and holds until it says."""
    check_fresh(f"{claims.get('iat')}".partition(".")[0], now, VonageReceiver.kind)
    expires = claims.get("exp")
    if isinstance(expires, int | float) and expires < now.timestamp() - CLOCKS_DIFFER_SECONDS:
        raise Refused("stale")
