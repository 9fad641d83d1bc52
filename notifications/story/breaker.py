"""How the breaker of one provider stands, in one sentence, and what a person may do about it. Pure, no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from notifications.breaker import BreakerState
from notifications.story.said import Said


class BreakerDeed(StrEnum):
    """One act, as the console offers it."""

    TRIP = "trip"
    RESET = "reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerFacts:
    """Columns of its row, and what was looked up beside it.

    Attributes:
        out_since: since when it is out of use without a break.
        next_call_at: from then on one call is tried.
        rests_until: the provider asked not to be called before.
        tripped_by, tripped_at, reason: of the act that keeps it open.
    """

    state: BreakerState
    failures: int = 0
    out_since: datetime | None = None
    next_call_at: datetime | None = None
    rests_until: datetime | None = None
    is_tripped: bool = False
    tripped_by: str = ""
    tripped_at: datetime | None = None
    reason: str = ""


def standing(facts: BreakerFacts, now: datetime) -> Said:
    """Whether it is called, since when not, and what ends that."""
    if facts.is_tripped:
        at: Said = () if facts.tripped_at is None else (" at ", facts.tripped_at)
        reason = f" ({facts.reason})" if facts.reason else ""
        return (f"{facts.tripped_by} tripped it", *at, f"{reason}: it is not called until somebody resets it.")
    if facts.state is BreakerState.CLOSED:
        return _closed(facts, now)
    since: Said = () if facts.out_since is None else (" since ", facts.out_since)
    if facts.state is BreakerState.HALF_OPEN:
        return ("It is out of use", *since, ": one call is under way, to see whether it is back.")
    if facts.next_call_at is None or facts.next_call_at <= now:
        return ("It is out of use", *since, ": one call is due, to see whether it is back.")
    left = facts.next_call_at - now
    return ("It is out of use", *since, ": one call is tried at ", facts.next_call_at, ", in ", left, ".")


def _closed(facts: BreakerFacts, now: datetime) -> Said:
    if facts.rests_until is not None and facts.rests_until > now:
        return ("It asked not to be called before ", facts.rests_until, ", in ", facts.rests_until - now, ".")
    if facts.failures:
        times = "The last call failed" if facts.failures == 1 else f"The last {facts.failures} calls failed"
        return (f"It is called as usual. {times}.",)
    return ("It is called as usual.",)


def legal(facts: BreakerFacts, now: datetime) -> tuple[BreakerDeed, ...]:
    """What would have an effect."""
    rests = facts.rests_until is not None and facts.rests_until > now
    deeds = [BreakerDeed.RESET] if facts.state is not BreakerState.CLOSED or facts.failures or rests else []
    return (*deeds, *(() if facts.is_tripped else (BreakerDeed.TRIP,)))
