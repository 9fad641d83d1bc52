"""Secrets and signatures as the Standard Webhooks specification has them. Pure.

The reference library signs, so that what receivers verify with the same library cannot drift from what we send.
"""

from __future__ import annotations

import base64
import secrets as random_secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook

PREFIX = "whsec_"
SECRET_BYTES = 32
"""The specification asks for 24 to 64 random bytes."""


def new_secret() -> str:
    """`whsec_` and the base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(random_secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def signed_headers(event_id: str, body: str, secrets: Sequence[str], *, at_epoch_seconds: float) -> dict[str, str]:
    """The three headers of one attempt.

    Args:
        event_id: the same on every attempt, so that receivers can tell repeats.
        body: exactly what is sent.
        secrets: those that are valid now, the present one first. During a rotation there are two, and a receiver may
            verify with either.
        at_epoch_seconds: when this attempt is made; receivers refuse a time more than five minutes off.
    """
    moment = datetime.fromtimestamp(int(at_epoch_seconds), UTC)
    signatures = [Webhook(secret).sign(msg_id=event_id, timestamp=moment, data=body) for secret in secrets]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(at_epoch_seconds)),
        "webhook-signature": " ".join(signatures),
    }
