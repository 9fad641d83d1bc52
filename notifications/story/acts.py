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


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form.

    Attributes:
        kind: of an `<input>`, or `select`.
        options: (value, label) of a `select`.
    """

    name: str
    label: str
    kind: str = "text"
    is_required: bool = False
    help: str = ""
    options: Sequence[tuple[str, str]] = ()


REASON = Field(name="reason", label="Reason, for the record", is_required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One act to be asked for by POST.

    Attributes:
        name: tells its fields' ids apart from those of the others.
        note: what to think of first.
        verb: on the button.
        seen: which state the person is looking at: what was done meanwhile, by whomever, makes the form void.
    """

    name: str
    address: str
    title: str
    note: str
    verb: str
    seen: str
    fields: Sequence[Field] = (REASON,)
