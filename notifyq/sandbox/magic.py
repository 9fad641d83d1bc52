"""Recipients that force one outcome, whatever the weather's rates say. Pure."""

from __future__ import annotations

import re
from enum import StrEnum

_PHONE = re.compile(r"\+?[0-9]{4,}")


class Magic(StrEnum):
    """The values are the local part of an address, and what follows the prefix of a device token."""

    OK = "ok"
    REJECT = "reject"
    TEMPORARY = "temporary"
    TEMPORARY_TWICE = "temporary-twice"
    ACCEPT_THEN_TIMEOUT = "accept-then-timeout"
    ACCEPT_THEN_500 = "accept-then-500"
    HANG = "hang"
    RATE_LIMIT = "rate-limit"
    POISON = "poison"


PHONE_ENDINGS: dict[str, Magic] = {
    "0001": Magic.REJECT,
    "0002": Magic.TEMPORARY,
    "0003": Magic.TEMPORARY_TWICE,
    "0004": Magic.ACCEPT_THEN_TIMEOUT,
    "0005": Magic.ACCEPT_THEN_500,
    "0006": Magic.HANG,
    "0007": Magic.RATE_LIMIT,
    "0009": Magic.POISON,
}

MEANINGS: dict[Magic, str] = {
    Magic.OK: "accepted",
    Magic.REJECT: "refused for good (422)",
    Magic.TEMPORARY: "never accepted (503 not_accepted)",
    Magic.TEMPORARY_TWICE: "refused twice, then accepted",
    Magic.ACCEPT_THEN_TIMEOUT: "accepted, and no answer comes",
    Magic.ACCEPT_THEN_500: "accepted, and the answer is a 500",
    Magic.HANG: "never accepted, never answered",
    Magic.RATE_LIMIT: "throttled (429, Retry-After: 1)",
    Magic.POISON: "never accepted; the answer is poisonous",
}


def recognise(channel: str, recipient: str) -> Magic | None:
    """The outcome `recipient` forces, or None for an ordinary one."""
    if channel == "SMS":
        return PHONE_ENDINGS.get(recipient[-4:]) if _PHONE.fullmatch(recipient) else None
    word = recipient.partition(":")[2] if channel == "PUSH" else recipient.rpartition("@")[0]
    try:
        return Magic(word.lower())
    except ValueError:
        return None
