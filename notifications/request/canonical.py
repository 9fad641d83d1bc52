"""The fingerprint by which a repeat under the same key is told from another request."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta

from notifications.channel import Priority
from notifications.request.check import NotificationRequest

FINGERPRINT_VERSION = 1
"""Part of what is hashed. A change of the canonical form needs a new number, and both compared while old rows live."""


def fingerprint(request: NotificationRequest) -> bytes:
    """SHA-256 over the canonical request: 32 bytes.

    What is absent, null, empty or the explicit default is left out and so all the same. The idempotency key is not
    part of it. A delay counts as it was given, an instant as the UTC instant it names.
    """
    present = {name: value for name, value in _canonical(request).items() if value not in (None, "", {})}
    text = json.dumps(present, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(f"notification:{FINGERPRINT_VERSION}:{text}".encode()).digest()


def _canonical(request: NotificationRequest) -> dict[str, object]:
    content, timing = request.content, request.timing
    return {
        "channel": request.channel.value,
        "recipient": request.recipient,
        "subject": content.subject,
        "body": content.body,
        "htmlBody": content.html_body,
        "fromName": content.from_name,
        "replyTo": content.reply_to,
        "collapseKey": content.collapse_key,
        "data": content.data,
        "priority": None if request.priority is Priority.NORMAL else request.priority.name,
        "sendAt": _instant(timing.send_at),
        "delay": _microseconds(timing.delay),
        "expiresAt": _instant(timing.expires_at),
        "ttl": _microseconds(timing.ttl),
        "maxAttempts": request.max_attempts,
        "onUnconfirmed": request.on_unconfirmed.value if request.on_unconfirmed else None,
        "userId": request.user_id,
        "reference": request.reference,
        "metadata": request.metadata,
    }


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="microseconds")


def _microseconds(value: timedelta | None) -> int | None:
    """None for no length and for zero: no delay is the default."""
    return value // timedelta(microseconds=1) if value else None
