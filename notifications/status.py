"""The states of a notification and the one table of moves between them. Pure, no database.

The database's CHECK constraints, the diagram in docs/states.md and the tests are all derived from this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Where a notification stands. Exactly one at any instant; the last five are final."""

    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    RECONCILING = "RECONCILING"
    SENT = "SENT"
    FAILED = "FAILED"
    DEAD_LETTERED = "DEAD_LETTERED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"

    __hash__ = str.__hash__  # see `Channel`


class WaitingReason(StrEnum):
    """Why a PENDING notification is not due."""

    SCHEDULED = "SCHEDULED"
    RATE_LIMITED = "RATE_LIMITED"
    RETRY_BACKOFF = "RETRY_BACKOFF"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    PAUSED = "PAUSED"


FINAL = frozenset({Status.SENT, Status.FAILED, Status.DEAD_LETTERED, Status.CANCELLED, Status.EXPIRED})
OPEN = frozenset(Status) - FINAL


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed move: from where, to where, who makes it, and when."""

    source: Status
    target: Status
    by: str
    when: str


_P, _W, _R = Status.PENDING, Status.PROCESSING, Status.RECONCILING

TRANSITIONS: tuple[Transition, ...] = (
    Transition(_P, _W, "claim", "it is due and a worker has a free seat"),
    Transition(_P, Status.CANCELLED, "cancel", "its client asked, before any send was begun"),
    Transition(_P, Status.EXPIRED, "expire", "its time to live ended before a send"),
    Transition(_P, Status.DEAD_LETTERED, "expire", "its time to live ended while an earlier send is unconfirmed"),
    Transition(_P, Status.RECONCILING, "expire", "the same, and its provider can be asked"),
    Transition(_P, Status.SENT, "receipt", "the provider's callback carries its key"),
    Transition(_P, Status.SENT, "copy", "it is the in-app copy of a push that is being settled"),
    Transition(_W, Status.SENT, "settle", "the provider accepted it"),
    Transition(_W, Status.SENT, "copy", "it is the in-app copy of a push that is being settled"),
    Transition(_W, Status.SENT, "receipt", "the answer was lost, but the provider's callback is there already"),
    Transition(_W, Status.FAILED, "settle", "the provider rejected it for good"),
    Transition(_W, Status.DEAD_LETTERED, "settle", "its attempts are used up, or it is held as unconfirmed"),
    Transition(_W, Status.RECONCILING, "settle", "the answer was lost and the provider can be asked"),
    Transition(_W, Status.EXPIRED, "settle", "its time to live ended in the worker's buffer"),
    Transition(_W, _P, "settle", "a temporary failure: it is retried later"),
    Transition(_W, _P, "release", "the worker gives it back unstarted"),
    Transition(_W, _P, "rescue", "its lease expired or its worker died"),
    Transition(_W, Status.DEAD_LETTERED, "rescue", "a lost send used up its attempts, or is held as unconfirmed"),
    Transition(_W, Status.RECONCILING, "rescue", "a lost send may have been made, and the provider can be asked"),
    Transition(_R, Status.SENT, "reconcile", "the provider has it"),
    Transition(_R, Status.SENT, "receipt", "the provider's callback carries its key"),
    Transition(_R, Status.FAILED, "reconcile", "the provider rejected it for good"),
    Transition(_R, _P, "reconcile", "certainly not sent, or nobody can say and its client wants a retry"),
    Transition(_R, Status.DEAD_LETTERED, "reconcile", "nobody can say and it is held, or its attempts are used up"),
    Transition(_R, Status.EXPIRED, "reconcile", "certainly not sent, and its time to live is over"),
    Transition(Status.FAILED, _P, "operator retry", "an operator gave it a new budget"),
    Transition(Status.DEAD_LETTERED, _P, "operator retry", "an operator gave it a new budget"),
    Transition(Status.DEAD_LETTERED, Status.SENT, "resolve", "an operator knows it was delivered"),
    Transition(Status.DEAD_LETTERED, Status.FAILED, "resolve", "an operator knows it was not"),
)


_MOVES = frozenset((t.source, t.target, t.by) for t in TRANSITIONS)


def allowed(source: Status, target: Status, *, by: str) -> bool:
    """Whether the table lets `by` move a notification from `source` to `target`."""
    return (source, target, by) in _MOVES
