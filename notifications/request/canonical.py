"""Hashes of requests: by them a repeat under the same key is told from another request, and what is said from other
things said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from notifications.channel import Priority
from notifications.request.content import ContentOfRequest

if TYPE_CHECKING:
    from notifications.request.check import NotificationRequest

FINGERPRINT_VERSION = 1
"""Part of what is hashed. A change of the canonical form needs a new number, and both compared while old rows live."""

CONTENT_KEY_PREFIX = "\tcontent:"


def fingerprint(request: NotificationRequest) -> bytes:
    """SHA-256 over the canonical request: 32 bytes.

    What is absent, null, empty or the explicit default is left out and so all the same. The idempotency key is not
    part of it. A delay counts as it was given, an instant as the UTC instant it names.
    """
    return _hash("notification", _present(_canonical(request)))


def group_fingerprint(requests: Sequence[NotificationRequest]) -> bytes:
    """The same over the requests of a group, one for each target in its order; no single request has it too."""
    return _hash("group", [_present(_canonical(request)) for request in requests])


def content_key(requests: Sequence[NotificationRequest]) -> str:
    """A key made of what is said to whom: (user id, channel, recipient, content) of each request.

    It begins with a character that a client's own key cannot have.
    """
    said = [[r.user_id, r.channel.value, r.recipient, _present(_canonical_content(r.content))] for r in requests]
    return CONTENT_KEY_PREFIX + _hash("content", said).hex()


def _present(values: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value not in (None, "", {})}


def _hash(what: str, value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(f"{what}:{FINGERPRINT_VERSION}:{text}".encode()).digest()


def _canonical(request: NotificationRequest) -> dict[str, object]:
    timing = request.timing
    return {
        "channel": request.channel.value,
        "recipient": request.recipient,
        **_canonical_content(request.content),
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


def _canonical_content(content: ContentOfRequest) -> dict[str, object]:
    return {
        "subject": content.subject,
        "body": content.body,
        "htmlBody": content.html_body,
        "fromName": content.from_name,
        "replyTo": content.reply_to,
        "collapseKey": content.collapse_key,
        "data": content.data,
    }


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="microseconds")


def _microseconds(value: timedelta | None) -> int | None:
    """None for no length and for zero: no delay is the default."""
    return value // timedelta(microseconds=1) if value else None
