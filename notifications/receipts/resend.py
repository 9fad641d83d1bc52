"""Webhooks of Resend.

Source: Resend's pages on webhooks (resend.com/docs/webhooks), 2026-11. They are signed by the Standard Webhooks rules
under the older names of the headers; each try has a fresh timestamp. Tags of a message come back with it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from standardwebhooks import Webhook

from notifications.receipts.base import (
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

TAG = "notifyq_id"
_SECRET_MIN_BYTES = 24
_STATUSES = {
    "email.scheduled": To.ACCEPTED,
    "email.sent": To.ACCEPTED,
    "email.delivered": To.DELIVERED,
    "email.delivery_delayed": To.DELAYED,
    "email.opened": To.OPENED,
    "email.clicked": To.OPENED,
    "email.failed": To.REJECTED,
    "email.suppressed": To.REJECTED,
    "email.bounced": To.BOUNCED,
    "email.complained": To.COMPLAINED,
}


class ResendReceiver(Receiver):
    """Its secrets are the signing secrets of the webhook, `whsec_…`."""

    kind = "resend"
    good_form: ClassVar[re.Pattern[str]] = re.compile(r"(?:whsec_)?[A-Za-z0-9+/]+={0,2}")
    good_looks: ClassVar[str] = "the signing secrets that Resend shows: whsec_ and base64 of at least 24 bytes"

    def __init__(self, name: str, secrets: Sequence[str]) -> None:
        super().__init__(name, secrets)
        if not all(_is_secret(secret) for secret in secrets):
            raise self.unusable()
        self._signers = [Webhook(secret) for secret in secrets]

    def receive(self, call: Call, *, now: datetime) -> Received:
        identity = call.headers.get("svix-id", "")
        self._verify(call, identity, now)
        event = loads(call.body)
        if not isinstance(event, dict):
            raise Unreadable("the body is no object")
        status, data = _STATUSES.get(str(event.get("type"))), part(event, "data")
        told = part(data, "bounce") or part(data, "failed") or part(data, "suppressed")
        if status is To.BOUNCED and told.get("type") == "Transient":
            status = To.UNDELIVERED
        if status is None or not identity:
            return Received()
        made = receipt(
            self.name,
            status,
            key=_tag(data.get("tags")),
            message_id=data.get("email_id"),
            event=(identity,),
            word=str(event["type"]),
            code=told.get("subType") or told.get("type"),
            text=told.get("message") or told.get("reason"),
            at=of_text(event.get("created_at")),
        )
        return Received((made,))

    def _verify(self, call: Call, identity: str, now: datetime) -> None:
        timestamp, given = call.headers.get("svix-timestamp", ""), call.headers.get("svix-signature", "")
        if not given:
            raise Refused("no_signature")
        check_fresh(timestamp, now, self.kind)  # a number, before anything is computed of it
        try:
            body = call.body.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("bad_signature") from None
        moment = datetime.fromtimestamp(int(timestamp), UTC)
        expected = [signer.sign(msg_id=identity, timestamp=moment, data=body) for signer in self._signers]
        if not any(same(one, each) for one in expected for each in given.split()[:8]):
            raise Refused("bad_signature")


def _is_secret(secret: str) -> bool:
    """Base64 of what the Standard Webhooks rules call long enough."""
    try:
        return len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) >= _SECRET_MIN_BYTES
    except binascii.Error:
        return False


def _tag(tags: Any) -> Any:
    """Both forms in which tags have come: a list of names and values, and an object."""
    if isinstance(tags, Mapping):
        return tags.get(TAG)
    named = [tag for tag in tags if isinstance(tag, Mapping)] if isinstance(tags, list) else []
    return next((tag.get("value") for tag in named if tag.get("name") == TAG), None)
