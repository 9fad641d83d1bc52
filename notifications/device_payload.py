"""What a device is handed: the alert, the pairs for the app, and our id. Pure, no database.

The API measures with it what the adapters send, so that nothing is stored that a vendor would refuse for its size.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

MAX_BYTES = 4_096
"""Of the whole payload. Source: Apple, Generating a remote notification; Firebase, FCM ErrorCode; read 2026-11-30."""

ID_KEY = "notifyq_id"
"""The pair that holds the notification's id, by which an app may tell a copy."""

_TAKEN = frozenset({"aps", "from", "gcm", "message_type", ID_KEY})
_TAKEN_PREFIXES = ("google.", "gcm.notification.")
TAKEN_NAMES = ", ".join([*sorted(_TAKEN), *(f"{prefix}…" for prefix in _TAKEN_PREFIXES)])


def payload(title: str, body: str, data: Mapping[str, str], identity: UUID) -> dict[str, Any]:
    """What an Apple device gets; the alert has no title where that is empty."""
    alert = {"title": title, "body": body} if title else {"body": body}
    return {**pairs(data, identity), "aps": {"alert": alert}}


def pairs(data: Mapping[str, str], identity: UUID) -> dict[str, str]:
    """The pairs for the app, ours among them."""
    return {**data, ID_KEY: str(identity)}


def encoded(document: object) -> bytes:
    """JSON in UTF-8, as short as it can be."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def size_bytes(title: str, body: str, data: Mapping[str, str]) -> int:
    """How long the payload of a notification will be."""
    return len(encoded(payload(title, body, data, UUID(int=0))))


def taken_keys(data: Mapping[str, str]) -> list[str]:
    """Keys of pairs that the vendors or this product use themselves.

    Source: FCM discovery document, rev 20261023 (`Message.data`); `aps` is Apple's.
    """
    return sorted(key for key in data if key in _TAKEN or key.startswith(_TAKEN_PREFIXES))
