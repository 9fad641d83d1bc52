"""A claimed notification inside a worker, with its deadlines on the worker's own clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from notifications.channel import Priority
from notifications.outcome import Decision
from notifications.providers.base import Message
from notifications.queue import Claimed
from notifications.verdict import Verdict
from notifyq.runtime.clock import elapsed


@dataclass(slots=True)
class Held:
    """What a worker holds. Instants are on `notifyq.runtime.clock.elapsed`.

    Attributes:
        usable_until: by then its send must be over: the lease, or the slot of a rate limit, ends no sooner.
        expires: when its time to live is over; None when it never is.
        due: when it was due.
    """

    claimed: Claimed
    usable_until: float
    expires: float | None
    due: float

    @classmethod
    def since(cls, claimed: Claimed, before_claim: float, usable_seconds: float) -> Held:
        """Args: before_claim: an instant before the claim was asked for, so that every deadline errs to the early."""
        expires = None if claimed.ttl_seconds is None else before_claim + claimed.ttl_seconds
        return cls(claimed, before_claim + usable_seconds, expires, before_claim - claimed.overdue_seconds)

    @property
    def order(self) -> tuple[int, float]:
        """The queue's order, kept in the worker's buffer too."""
        return (self.claimed.rank, self.due)

    def usable_seconds(self) -> float:
        """What is left for a send to be made in."""
        return self.usable_until - elapsed()

    def is_past_ttl(self) -> bool:
        return self.expires is not None and elapsed() >= self.expires


@dataclass(frozen=True, slots=True)
class Hop:
    """One call that was made, with its instants on the worker's clock."""

    provider: str
    verdict: Verdict
    started: float
    finished: float


@dataclass(frozen=True, slots=True)
class Finished:
    """What a delivery came to: to be settled, or given back when nothing was begun."""

    held: Held
    decision: Decision
    hops: tuple[Hop, ...] = field(default=())
    give_back: bool = False


def message_of(held: Held, sender: dict[str, str]) -> Message:
    """What an adapter may know of it."""
    claimed = held.claimed
    return Message(
        id=claimed.id,
        channel=claimed.channel,
        recipient=claimed.recipient,
        attempt_number=claimed.standing.attempt_number,
        expires_at=claimed.expires_at,
        ttl_seconds=None if held.expires is None else max(0.0, held.expires - elapsed()),
        urgent=claimed.rank < Priority.LOW,
        sender=sender,
        **claimed.content,
    )
