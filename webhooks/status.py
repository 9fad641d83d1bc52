"""The states of a webhook event and the one table of moves between them. Pure, no database.

The database's CHECK constraints and the tests are derived from this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EventStatus(StrEnum):
    """Where a webhook event stands. Exactly one at any instant; the last three are final."""

    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    DELIVERED = "DELIVERED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class DisabledReason(StrEnum):
    """Why the service itself disabled an endpoint. One that its owner disabled has none."""

    GONE = "GONE"
    """It answered 410."""
    FAILING = "FAILING"
    """Nothing but failure for days."""


FINAL = frozenset({EventStatus.DELIVERED, EventStatus.FAILED, EventStatus.CANCELLED})


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed move: from where, to where, who makes it, and when."""

    source: EventStatus
    target: EventStatus
    by: str
    when: str


_P, _W = EventStatus.PENDING, EventStatus.PROCESSING

TRANSITIONS: tuple[Transition, ...] = (
    Transition(_P, _W, "claim", "it is due and its endpoint has a free share"),
    Transition(_P, EventStatus.CANCELLED, "cancel", "its endpoint was disabled or deleted"),
    Transition(_W, EventStatus.DELIVERED, "settle", "the endpoint answered 2xx"),
    Transition(_W, EventStatus.FAILED, "settle", "its attempts are used up, or our own code failed"),
    Transition(_W, EventStatus.CANCELLED, "settle", "the endpoint answered 410"),
    Transition(_W, _P, "settle", "the attempt failed: it is retried later"),
    Transition(_W, _P, "release", "the dispatcher gives it back unstarted"),
    Transition(_W, _P, "rescue", "its lease expired"),
    Transition(_W, EventStatus.FAILED, "rescue", "a lost attempt was its last"),
    Transition(EventStatus.DELIVERED, _P, "replay", "its owner wants it again"),
    Transition(EventStatus.FAILED, _P, "replay", "its owner wants it again"),
    Transition(EventStatus.CANCELLED, _P, "replay", "its owner wants it again"),
)

_MOVES = frozenset((t.source, t.target, t.by) for t in TRANSITIONS)


def allowed(source: EventStatus, target: EventStatus, *, by: str) -> bool:
    """Whether the table lets `by` move an event from `source` to `target`."""
    return (source, target, by) in _MOVES
