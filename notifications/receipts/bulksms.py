"""Webhooks of BulkSMS.

Source: BulkSMS's page on its JSON API and the API's description, 2026-11. It signs nothing: the address has a secret
in its query. What is answered with 4xx it drops, anything else it repeats for two days.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

from notifications.providers.sms import short_key
from notifications.receipts.base import Call, Receipt, Received, Receiver, Refused, loads, part, received_of, same
from notifications.receipts.making import line, receipt
from notifications.receipts.status import DeliveryStatus as To
from notifications.verdict import ERROR_CODE_MAX_LENGTH

_PARAMETER = "secret"
_STATUSES = {
    "ACCEPTED": To.ACCEPTED,
    "SCHEDULED": To.ACCEPTED,
    "SENT": To.ACCEPTED,
    "DELIVERED": To.DELIVERED,
    "FAILED": To.UNDELIVERED,
}
_NEVER_LEFT = frozenset({"BLOCKED", "NOT_SENT"})


class BulkSmsReceiver(Receiver):
    """Its secrets are yours to make up: they stand in the address that is entered at BulkSMS."""

    kind = "bulksms"
    # It is pasted into an address: what means something there would come back as something else.
    good_form: ClassVar[re.Pattern[str]] = re.compile(r"[A-Za-z0-9._~-]{8,}")
    good_looks: ClassVar[str] = (
        "secrets of at least 8 letters, digits and any of - . _ ~, as they stand in the address entered at BulkSMS"
    )

    def receive(self, call: Call, *, now: datetime) -> Received:
        given = dict(parse_qsl(urlsplit(call.urls[0]).query)).get(_PARAMETER, "")
        if not given:
            raise Refused("no_signature")
        if not any(same(secret, given) for secret in self._secrets):
            raise Refused("bad_signature")
        body = loads(call.body)
        return received_of(body if isinstance(body, list) else [body], self._receipt)

    def _receipt(self, message: dict[str, Any]) -> Receipt | None:
        told = part(message, "status")
        kind, detail = str(told.get("type")), line(told.get("subtype"), ERROR_CODE_MAX_LENGTH)
        status = To.REJECTED if kind == "FAILED" and detail in _NEVER_LEFT else _STATUSES.get(kind)
        if status is None or not message.get("id"):  # one that came in, or of which nothing is known
            return None
        return receipt(
            self.name,
            status,
            key=_key(str(message.get("userSuppliedId") or "")),
            message_id=message["id"],
            event=(message["id"], kind, detail),
            word=kind,
            code=detail,
        )


def _key(text: str) -> UUID | None:
    try:
        return short_key.decode(text)
    except ValueError:  # somebody else's reference, or none
        return None
