"""The error tree of the product. Texts hold providers, codes and reasons; never a recipient, a body or a secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


class ConfigurationError(Exception):
    """A setting is missing, wrong or contradicts another; stops the start with one line that names it.

    Stands outside `NotifyError`, so that nothing that handles a notification's trouble can swallow it. Whatever of a
    value came into the text, and what a library said, stays on that line: a line end becomes `\\n`.
    """

    def __init__(self, text: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


class NotifyError(Exception):
    """Root of every error that a caller of the services may handle."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field. `field` is the Python name (snake case); the API shows it in camel case."""

    field: str
    code: str
    message: str


def shown_name(field: str) -> str:
    """A field's name as callers write it, for sentences that name it: `send_at` → `sendAt`."""
    first, *others = field.split("_")
    return first + "".join(part.capitalize() for part in others)


class InvalidRequest(NotifyError):
    """The request breaks the contract; nothing was stored."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.field}: {e.message}" for e in self.errors))


class IdempotencyConflict(NotifyError):
    """The idempotency key was used before with other details; nothing was stored."""


class NotFound(NotifyError):
    """No such notification, or not the caller's."""


class TooLate(NotifyError):
    """The notification has left the state in which this could be done.

    Attributes:
        status: the state it is in now.
        may_have_been_sent: an unconfirmed attempt is open, so nobody can promise it was not sent.
    """

    def __init__(self, status: str, *, may_have_been_sent: bool = False) -> None:
        self.status = status
        self.may_have_been_sent = may_have_been_sent
        super().__init__("it may have been sent" if may_have_been_sent else f"it is {status} already")


class ActedMeanwhile(NotifyError):
    """Somebody has acted on the notification, or the breaker, since the caller looked at it; nothing was changed.

    Attributes:
        action, actor: the last act, and whose it was.
    """

    def __init__(self, action: str, actor: str) -> None:
        self.action = action
        self.actor = actor
        super().__init__(f"{action} by {actor} came before")


class PastExpiry(NotifyError):
    """The time to live of the notification stands against it; nothing was changed.

    Attributes:
        field: what in the request has to be given, or given another value.
        expires_at: the end of that time; None where nobody asked for it.
    """

    def __init__(self, field: str, message: str, expires_at: datetime | None = None) -> None:
        self.field = field
        self.message = message
        self.expires_at = expires_at
        super().__init__(f"{field}: {message}")
