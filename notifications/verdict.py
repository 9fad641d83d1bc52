"""The five answers an attempt can have, and the four that asking about it can have. Pure, no database."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

ERROR_CODE_MAX_LENGTH = 64
ERROR_MESSAGE_MAX_LENGTH = 500


class Outcome(StrEnum):
    """What an attempt came to. The first five are a provider's verdicts; LOST is written when its worker died."""

    ACCEPTED = "ACCEPTED"
    REJECTED = "REJECTED"
    TEMPORARY = "TEMPORARY"
    PROVIDER_FAULT = "PROVIDER_FAULT"
    UNCONFIRMED = "UNCONFIRMED"
    LOST = "LOST"

    __hash__ = str.__hash__  # see `Channel`


@dataclass(frozen=True, slots=True)
class Verdict:
    """A vendor's answer in the product's own terms. Made by the constructors below, never by hand.

    Attributes:
        outcome: one of the first five members of `Outcome`.
        provider_message_id: the vendor's own id, the proof of acceptance; empty unless ACCEPTED.
        error_code: lower snake case or the vendor's own code, at most 64 characters; empty when ACCEPTED.
        error_message: one line for an operator; never a recipient, body or secret.
        retry_after_seconds: the vendor's wish, a floor for the wait; only with TEMPORARY or UNCONFIRMED.
        throttled: the vendor said "slow down" (429): says nothing about its health.
    """

    outcome: Outcome
    provider_message_id: str = ""
    error_code: str = ""
    error_message: str = ""
    retry_after_seconds: float | None = None
    throttled: bool = False

    @classmethod
    def accepted(cls, provider_message_id: str) -> Verdict:
        """The vendor's positive proof is in the answer."""
        if not provider_message_id:
            raise ValueError("an accepted verdict needs the vendor's proof (a message id)")
        return cls(Outcome.ACCEPTED, provider_message_id=provider_message_id[:255])

    @classmethod
    def rejected(cls, code: str, message: str = "") -> Verdict:
        """This message is refused for good: no such address, invalid content."""
        return cls(Outcome.REJECTED, error_code=_code(code), error_message=_line(message))

    @classmethod
    def temporary(
        cls, code: str, message: str = "", *, retry_after_seconds: float | None = None, throttled: bool = False
    ) -> Verdict:
        """Certainly not sent, and may succeed later (or through another provider)."""
        return cls(
            Outcome.TEMPORARY,
            error_code=_code(code),
            error_message=_line(message),
            retry_after_seconds=retry_after_seconds,
            throttled=throttled,
        )

    @classmethod
    def provider_fault(cls, code: str, message: str = "") -> Verdict:
        """The account is refused, not the message: bad credentials, no credit, suspended."""
        return cls(Outcome.PROVIDER_FAULT, error_code=_code(code), error_message=_line(message))

    @classmethod
    def unconfirmed(cls, code: str, message: str = "", *, retry_after_seconds: float | None = None) -> Verdict:
        """The request went out and no proof came back: it may have been sent."""
        return cls(
            Outcome.UNCONFIRMED,
            error_code=_code(code),
            error_message=_line(message),
            retry_after_seconds=retry_after_seconds,
        )


class Found(StrEnum):
    """What a vendor says of a message it is asked about."""

    ACCEPTED = "ACCEPTED"
    """It took the message, whatever became of it since."""
    REJECTED = "REJECTED"
    """It refused the message for good."""
    ABSENT = "ABSENT"
    """It has no such message: believed once its settling time is over."""
    UNKNOWN = "UNKNOWN"
    """It cannot say now: not decided yet, unreachable, unreadable. Proves nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A vendor's answer to a look-up. Made by the constructors below, never by hand.

    Attributes:
        provider_message_id: the vendor's own id, empty unless ACCEPTED.
        error_code, error_message: why it was rejected or is unknown, in the manner of `Verdict`.
        retry_after_seconds: the vendor's wish, a floor for the wait before it is asked again; only with UNKNOWN.
    """

    found: Found
    provider_message_id: str = ""
    error_code: str = ""
    error_message: str = ""
    retry_after_seconds: float | None = None

    @classmethod
    def accepted(cls, provider_message_id: str) -> Finding:
        """The vendor has it, under this id."""
        if not provider_message_id:
            raise ValueError("an accepted finding needs the vendor's proof (a message id)")
        return cls(Found.ACCEPTED, provider_message_id=provider_message_id[:255])

    @classmethod
    def rejected(cls, code: str, message: str = "") -> Finding:
        """The vendor refused it for good."""
        return cls(Found.REJECTED, error_code=_code(code), error_message=_line(message))

    @classmethod
    def absent(cls) -> Finding:
        """The vendor answered, and has no such message."""
        return cls(Found.ABSENT)

    @classmethod
    def unknown(cls, code: str, message: str = "", *, retry_after_seconds: float | None = None) -> Finding:
        """The vendor cannot say now."""
        return cls(
            Found.UNKNOWN,
            error_code=_code(code),
            error_message=_line(message),
            retry_after_seconds=retry_after_seconds,
        )


def _code(text: str) -> str:
    """Vendors' own codes come from outside like their texts."""
    return _line(text)[:ERROR_CODE_MAX_LENGTH]


def _line(text: str) -> str:
    """One printable line: vendors' texts go into logs and a VARCHAR (PostgreSQL refuses NUL and lone surrogates)."""
    printable = "".join(c if c.isprintable() else " " for c in text.encode("utf-8", "replace").decode("utf-8"))
    return " ".join(printable.split())[:ERROR_MESSAGE_MAX_LENGTH]
