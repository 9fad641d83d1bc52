"""Channels and priorities: the two small vocabularies that everything else shares. Pure, no database."""

from enum import IntEnum, StrEnum


class Channel(StrEnum):
    """The kind of address a notification goes to."""

    EMAIL = "EMAIL"
    SMS = "SMS"
    PUSH = "PUSH"
    IN_APP = "IN_APP"
    """The recipient's inbox, which this service keeps itself."""

    __hash__ = str.__hash__  # equal, and many times as fast as that of Enum: each delivery looks up by it


UNLIMITED = frozenset({Channel.IN_APP})
"""Channels without a rate limit, whatever the rules say: an entry in an inbox disturbs nobody."""

INBOX = "inbox"
"""The one provider of IN_APP."""


class Priority(IntEnum):
    """Stored as a small integer so that the claim's index can order by it; lower is served first."""

    HIGH = 0
    NORMAL = 1
    LOW = 2


class OnUnconfirmed(StrEnum):
    """What to do when nobody can say whether an attempt was delivered."""

    RETRY = "RETRY"
    """Send again: at least once, perhaps twice."""
    HOLD = "HOLD"
    """Dead-letter with the reason UNCONFIRMED and let a person decide: at most once."""
