"""Status callbacks of Twilio.

Source: Twilio's pages on status callbacks and webhook security, and its request validator (twilio 9.13), 2026-11. The
address carries our key, since nothing else of ours comes back.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from datetime import datetime
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

from notifications.receipts.base import Call, Received, Receiver, Refused, same
from notifications.receipts.making import receipt
from notifications.receipts.status import DeliveryStatus as To

_FIELDS_MOST = 200
_DEFAULT_PORTS = {"https": 443, "http": 80}
_STATUSES = {
    "accepted": To.ACCEPTED,
    "scheduled": To.ACCEPTED,
    "queued": To.ACCEPTED,
    "sending": To.ACCEPTED,
    "sent": To.ACCEPTED,
    "delivered": To.DELIVERED,
    "read": To.OPENED,
    "undelivered": To.UNDELIVERED,
    "failed": To.REJECTED,
    "canceled": To.REJECTED,
}

Pairs = list[tuple[str, str]]


class TwilioReceiver(Receiver):
    """Its secrets are the account's auth tokens (or the secrets of shared keys)."""

    kind = "twilio"
    good_form: ClassVar[re.Pattern[str]] = re.compile(r"(?!(?:AC|SK)[0-9a-f]{32}$)[!-~]{32,}")
    good_looks: ClassVar[str] = "the auth token, 32 letters and digits, and not an SID, which begins with AC or SK"

    def receive(self, call: Call, *, now: datetime) -> Received:
        pairs = _pairs(call.body)
        self._verify(call, pairs)
        fields = dict(pairs)
        word = fields.get("MessageStatus", "").lower()
        status = _STATUSES.get(word)
        message_id = fields.get("MessageSid", "")
        if status is None or not message_id:
            return Received()
        made = receipt(
            self.name,
            status,
            key=dict(parse_qsl(urlsplit(call.urls[0]).query)).get("key"),
            message_id=message_id,
            event=(message_id, word),
            word=word,
            code=fields.get("ErrorCode"),
            text=fields.get("ErrorMessage"),
        )
        return Received((made,))

    def _verify(self, call: Call, pairs: Pairs) -> None:
        given = call.headers.get("x-twilio-signature", "")
        if not given:
            raise Refused("no_signature")
        algorithm = _algorithm(call.headers.get("x-twilio-webhooks-signature-settings", ""))
        urls = [spelling for url in call.urls for spelling in _with_and_without_port(url)]
        if not any(same(signature(s, url, pairs, algorithm), given) for s in self._secrets for url in urls):
            raise Refused("bad_signature")


def signature(secret: str, url: str, pairs: Pairs, algorithm: str = "sha1") -> str:
    """What Twilio puts into its header: over the address and the sorted fields, each name before its value."""
    text = url + "".join(name + value for name, value in sorted(set(pairs)))
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), algorithm).digest()).decode("ascii")


def _pairs(body: bytes) -> Pairs:
    """The signature is made over the decoded fields, so they have to be read first; only so many are."""
    try:
        return parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_FIELDS_MOST)
    except ValueError:
        raise Refused("bad_signature") from None  # Twilio signs no such thing


def _algorithm(settings: str) -> str:
    """Which of two good ones was used; whoever calls may say so, since both need the secret."""
    chosen = settings.upper().replace(" ", "")
    return hashlib.sha256().name if "ALGORITHM=HMAC_SHA256" in chosen else hashlib.sha1(usedforsecurity=False).name


def _with_and_without_port(url: str) -> tuple[str, ...]:
    """Twilio signs the address sometimes with the usual port in it and sometimes without."""
    parts = urlsplit(url)
    host, usual = parts.netloc.rpartition("@")[2], _DEFAULT_PORTS.get(parts.scheme)
    if parts.port is None:
        return url, parts._replace(netloc=f"{host}:{usual}").geturl()
    return url, parts._replace(netloc=host.removesuffix(f":{parts.port}")).geturl()
