"""The names of fields: camel case outside, snake case inside."""

from __future__ import annotations

from collections.abc import Iterable

from notifications.errors import FieldError, shown_name
from notifyq.rest.problem import field_error

REQUEST_FIELDS = (
    "idempotencyKey",
    "channel",
    "recipient",
    "subject",
    "body",
    "htmlBody",
    "data",
    "fromName",
    "replyTo",
    "priority",
    "sendAt",
    "delaySeconds",
    "expiresAt",
    "ttlSeconds",
    "maxAttempts",
    "userId",
    "reference",
    "metadata",
    "collapseKey",
    "onUnconfirmed",
    "dedupeByContent",
)
"""Every field that a request for one notification may have."""
GROUP_FIELDS = ("targets", *(name for name in REQUEST_FIELDS if name not in ("channel", "recipient")))
"""The same for one with several targets."""


def snake(name: str) -> str:
    """`sendAt` → `send_at`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def camel(name: str) -> str:
    """`send_at` → `sendAt`."""
    return shown_name(name)


def camel_errors(errors: Iterable[FieldError]) -> list[dict[str, str]]:
    """The errors as the API shows them."""
    return [field_error(camel(e.field), e.code, e.message) for e in errors]
