"""What an operator may do to a notification as it stands, and the small forms that ask for it. Pure, no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from notifications.outcome import UNCONFIRMED
from notifications.status import Status


class Deed(StrEnum):
    """One act, as the console offers it."""

    RETRY = "retry"
    RESOLVE_SENT = "resolve-sent"
    RESOLVE_FAILED = "resolve-failed"
    RESCHEDULE = "reschedule"
    CANCEL = "cancel"


def legal(status: str, *, unconfirmed_provider: str, error_code: str) -> tuple[Deed, ...]:
    """What the services would do now; it may be different by the time they are asked."""
    if status == Status.PENDING:
        return () if unconfirmed_provider else (Deed.RESCHEDULE, Deed.CANCEL)
    if status == Status.DEAD_LETTERED and (unconfirmed_provider or error_code == UNCONFIRMED):
        return (Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED, Deed.RETRY)
    return (Deed.RETRY,) if status in (Status.FAILED, Status.DEAD_LETTERED) else ()


def possible(status: str) -> tuple[Deed, ...]:
    """What the services would do to some of those that have this status."""
    certain = legal(status, unconfirmed_provider="", error_code="")
    return tuple(dict.fromkeys(legal(status, unconfirmed_provider="any", error_code="") + certain))


def hindrance(deed: Deed, status: str, *, unconfirmed_provider: str, error_code: str, is_over: bool) -> str:
    """Why the services would refuse it now, in words that follow "left alone:"; empty when they would not.

    Args:
        is_over: its time to live is over.
    """
    if deed in legal(status, unconfirmed_provider=unconfirmed_provider, error_code=error_code):
        return _OVER.get(deed, "") if is_over else ""
    if status == Status.PENDING and deed in (Deed.RESCHEDULE, Deed.CANCEL):
        return "an earlier attempt may have been sent, so nobody can promise any more that it is not"
    if status == Status.DEAD_LETTERED and deed in (Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED):
        return "it is not held as unconfirmed"
    return f"it is {status}"


_OVER = {
    Deed.RETRY: "its time to live is over; on its own page it can be retried with a new one",
    Deed.RESCHEDULE: "its time to live is over",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form.

    Attributes:
        kind: of an `<input>`, or `select`.
        options: (value, label) of a `select`.
        max_length: of a text.
        value: what stands in it already.
        error: what is wrong with that, in a sentence.
        has_focus: it is the first that is wrong.
    """

    name: str
    label: str
    kind: str = "text"
    is_required: bool = False
    help: str = ""
    options: Sequence[tuple[str, str]] = ()
    max_length: int = 500
    value: str = ""
    error: str = ""
    has_focus: bool = False


REASON = Field(name="reason", label="Reason, for the record (the client can read it)", is_required=True)
"""Of an act on a notification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One act to be asked for by POST.

    Attributes:
        name: tells its fields' ids apart from those of the others.
        note: what to think of first.
        verb: on the button.
        seen: which state the person is looking at: what was done meanwhile, by whomever, makes the form void.
        is_open: shown at once, without a click.
    """

    name: str
    address: str
    title: str
    note: str
    verb: str
    seen: str
    fields: Sequence[Field] = (REASON,)
    is_open: bool = False
