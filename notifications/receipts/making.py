"""Making receipts from what vendors write: bounded, printable, and without the addresses that they like to quote."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from notifications.receipts.base import Receipt
from notifications.receipts.status import DeliveryStatus
from notifications.verdict import ERROR_CODE_MAX_LENGTH, ERROR_MESSAGE_MAX_LENGTH
from notifyq.runtime.instants import utc

ID_MAX_LENGTH = 255
WORD_MAX_LENGTH = 32
_MAILBOX = re.compile(r"[^\s<>\"'()\[\],;:]+@[^\s<>\"'()\[\],;:]+")
_PHONE = re.compile(r"\+\d(?:[ ().-]?\d){6,14}|\b\d{9,15}\b|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b")
_UNNAMED = "…"
_EPOCH_MOST = 253_402_300_799
"""The last second of the year 9999."""


def receipt(
    provider: str,
    status: DeliveryStatus,
    *,
    key: object,
    message_id: object,
    event: tuple[object, ...],
    word: str = "",
    code: object = "",
    text: object = "",
    at: datetime | None = None,
) -> Receipt:
    """A receipt of whatever a vendor wrote.

    Args:
        key: our key in the vendor's copy; what is no UUID is no key of ours.
        word: the vendor's own for the status: one of those that the receiver's table knows, nothing else.
        event: what tells this report from every other one. However often a message is opened, only the first is kept.
    """
    identity = line(message_id, ID_MAX_LENGTH)
    known = as_uuid(key)
    if status is DeliveryStatus.OPENED:
        event = (known or identity, status)
    return Receipt(
        provider=provider,
        key=known,
        provider_message_id=identity,
        event_id=_event_id(event),
        status=status,
        word=word[:WORD_MAX_LENGTH],
        code=line(code, ERROR_CODE_MAX_LENGTH),
        text=masked(line(text, 4 * ERROR_MESSAGE_MAX_LENGTH))[:ERROR_MESSAGE_MAX_LENGTH],
        at=at,
    )


def line(value: object, most: int) -> str:
    """One printable line of whatever it is; objects and lists are nothing."""
    if value is None or isinstance(value, dict | list | bool):
        return ""
    text = str(value)[: 4 * most].encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:most]


def masked(text: str) -> str:
    """Without mailboxes and telephone numbers: bounces quote the recipient, and this is shown and kept elsewhere."""
    return _PHONE.sub(_UNNAMED, _MAILBOX.sub(_UNNAMED, text))


def as_uuid(value: object) -> UUID | None:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value) if isinstance(value, str) and len(value) in (32, 36) else None
    except ValueError:
        return None


def of_epoch(value: Any) -> datetime | None:
    """From seconds since 1970, as a number or text."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < _EPOCH_MOST else None


def of_text(value: Any) -> datetime | None:
    """From RFC 3339; one without an offset means UTC."""
    try:
        at = datetime.fromisoformat(value)
        return utc(at if at.tzinfo else at.replace(tzinfo=UTC))
    except (TypeError, ValueError):
        return None


def _event_id(event: tuple[object, ...]) -> str:
    """A long one keeps its identity, not its text."""
    text = ":".join(line(item, 4 * ID_MAX_LENGTH) for item in event)
    return text if len(text) <= ID_MAX_LENGTH else hashlib.sha256(text.encode()).hexdigest()
