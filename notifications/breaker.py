"""When a provider is left alone, and when it is tried again: the circuit breaker. Pure: every instant is passed in.

There is one breaker for each channel and provider, and all workers share it:

    CLOSED ──failures in a row, or the account is refused──▶ OPEN ──cooldown is over──▶ HALF_OPEN
       ▲                                                      ▲                            │
       └──────────────── the probe was answered ──────────────┼────────────────────────────┤
                                                              └── it was not ◀─────────────┘

HALF_OPEN means that one worker holds the probe: one call, to see whether the provider is back. Each change of state
begins a new generation, and what comes in late from calls of an earlier one changes nothing.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from notifications.verdict import Outcome, Verdict

PROBE_TIMEOUT_SECONDS = 10.0
"""Bound on the call that is the probe, where the send timeout is longer."""
PROBE_MARGIN_SECONDS = 5.0
"""The probe is held for its timeout and so much more; then its worker counts as dead and another may take it."""


class BreakerState(StrEnum):
    """Whether a provider is called."""

    CLOSED = "CLOSED"
    """It is, as usual."""
    OPEN = "OPEN"
    """It is not."""
    HALF_OPEN = "HALF_OPEN"
    """One call is under way, to see whether it is back."""


class Sign(StrEnum):
    """What a verdict says of the provider, whatever it says of the message."""

    ALIVE = "ALIVE"
    FAILURE = "FAILURE"
    FAULT = "FAULT"
    """It refuses the account, and so whatever else would be sent."""
    NONE = "NONE"


def sign_of(verdict: Verdict) -> Sign:
    """A refused message shows that the provider works; one that says "slow down" says nothing of its health."""
    if verdict.outcome in (Outcome.ACCEPTED, Outcome.REJECTED):
        return Sign.ALIVE
    if verdict.outcome is Outcome.PROVIDER_FAULT:
        return Sign.FAULT
    if verdict.throttled or verdict.outcome not in (Outcome.TEMPORARY, Outcome.UNCONFIRMED):
        return Sign.NONE
    return Sign.FAILURE


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """When the breaker of a provider opens, and for how long.

    Attributes:
        failures: so many in a row open it.
        cooldown_seconds: from an opening to the probe.
        min_volume: it also opens when at least so many calls of one process fell into the window, and `failure_rate` of
            them failed; 0 for never.
        failure_rate: above 0, at most 1.
        window_seconds: of `failure_rate`.
    """

    failures: int = 5
    cooldown_seconds: float = 60.0
    min_volume: int = 0
    failure_rate: float = 0.5
    window_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """A breaker as it is stored. Instants are the database's.

    Attributes:
        failures: in a row, while CLOSED.
        failing_since: since when it is out of use without a break: the first opening of the outage, by failures or by
            an operator. None while CLOSED.
        opened_at: the latest opening.
        probe_due_at: from then on one call may be tried; None while CLOSED and while an operator keeps it open.
        probe_token: who holds the probe, while HALF_OPEN.
        probe_until: then the probe is free again.
        tripped: an operator keeps it open until an operator resets it; there is no probe.
        trips: how often it has opened.
        generation: grows with each change of state.
    """

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    failing_since: datetime | None = None
    opened_at: datetime | None = None
    probe_due_at: datetime | None = None
    probe_token: UUID | None = None
    probe_until: datetime | None = None
    tripped: bool = False
    trips: int = 0
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Calls:
    """What one process has seen of a provider since it last said so.

    Attributes:
        generation: of the breaker that let the calls through.
        alive: one of them was answered.
        failures: in a row after that.
        opens: the process has found that the breaker has to open.
        error_code, error_message: of the latest failure.
    """

    generation: int
    alive: bool = False
    failures: int = 0
    opens: bool = False
    error_code: str = ""
    error_message: str = ""


def after_calls(breaker: Breaker, calls: Calls, rule: BreakerRule, now: datetime) -> Breaker:
    """Calls that a CLOSED breaker let through have ended. Those of an earlier generation say nothing any more."""
    if breaker.state is not BreakerState.CLOSED or calls.generation != breaker.generation:
        return breaker
    failures = calls.failures if calls.alive else breaker.failures + calls.failures
    if calls.opens or failures >= rule.failures:
        return _opened(replace(breaker, failures=failures), rule, now)
    return replace(breaker, failures=failures)


def begin_probe(breaker: Breaker, token: UUID, lease_seconds: float, now: datetime) -> Breaker | None:
    """Give the probe to the holder of `token`; None when it is not due, or another holds it."""
    if not is_probe_due(breaker, now):
        return None
    return _next(
        breaker,
        state=BreakerState.HALF_OPEN,
        probe_token=token,
        probe_until=now + timedelta(seconds=lease_seconds),
    )


def is_probe_due(breaker: Breaker, now: datetime) -> bool:
    """Whether one call may be tried: the cooldown is over, or whoever held the probe is gone."""
    if breaker.tripped:
        return False
    if breaker.state is BreakerState.OPEN:
        return breaker.probe_due_at is not None and breaker.probe_due_at <= now
    return breaker.state is BreakerState.HALF_OPEN and breaker.probe_until is not None and breaker.probe_until <= now


def after_probe(breaker: Breaker, token: UUID, sign: Sign, rule: BreakerRule, now: datetime) -> Breaker:
    """The probe has ended. One that said nothing is repeated after another cooldown, and counts as no opening.

    Args:
        token: whoever has lost the probe meanwhile changes nothing.
    """
    if not _holds(breaker, token):
        return breaker
    if sign is Sign.ALIVE:
        return closed(breaker)
    if sign is Sign.NONE:
        return _waiting(breaker, now + timedelta(seconds=rule.cooldown_seconds))
    return _opened(breaker, rule, now)


def after_no_probe(breaker: Breaker, token: UUID, now: datetime) -> Breaker:
    """The probe was taken, but no call was made: it is still due."""
    return _waiting(breaker, now) if _holds(breaker, token) else breaker


def tripped(breaker: Breaker, now: datetime) -> Breaker:
    """An operator opens it, until an operator resets it. A repeat changes nothing."""
    if breaker.tripped:
        return breaker
    return _next(
        breaker,
        state=BreakerState.OPEN,
        tripped=True,
        failing_since=breaker.failing_since or now,
        opened_at=now,
        probe_due_at=None,
        probe_token=None,
        probe_until=None,
        trips=breaker.trips + 1,
    )


def closed(breaker: Breaker) -> Breaker:
    """It is used again, and counted anew. A repeat changes nothing."""
    if breaker.state is BreakerState.CLOSED and not breaker.failures:
        return breaker
    return replace(Breaker(), trips=breaker.trips, generation=breaker.generation + 1)


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait, in seconds, with what is drawn at random on top so that not all come back together."""

    at_least_seconds: float
    spread_seconds: float

    def draw(self, dice: random.Random) -> float:
        return self.at_least_seconds + self.spread_seconds * dice.uniform(0.2, 1.0)


def wait_while_open(*, until_probe_seconds: float | None, failing_seconds: float, cooldown_seconds: float) -> Wait:
    """How long a notification waits that no provider can take: until the probe is due, and a part of the outage so
    far, half a cooldown at the most. So it is looked at about once in a cooldown, and goes soon after the end.
    A probe that is under way, and may be answered at once, is waited for no longer than a cooldown.

    Args:
        until_probe_seconds: None when there is no probe, since an operator keeps the breaker open.
        failing_seconds: how long the outage has lasted.
    """
    if until_probe_seconds is None:
        return Wait(cooldown_seconds / 2, cooldown_seconds / 2)
    return Wait(
        min(cooldown_seconds, max(0.0, until_probe_seconds)), min(cooldown_seconds, max(1.0, failing_seconds)) / 2
    )


class Tally:
    """What one process sees of one provider. Not safe for several threads at once.

    Attributes:
        is_idle: an answered call would change nothing in it. Kept ready, since it is asked at every call.
    """

    def __init__(self, rule: BreakerRule) -> None:
        self._rule = rule
        self._window = Window(rule.window_seconds) if rule.min_volume else None
        self._row = 0
        self._unsaid = Calls(0)
        self.is_idle = not rule.min_volume

    @property
    def has_news(self) -> bool:
        """Something was counted since it was taken last."""
        return self._unsaid != Calls(0)

    def add(self, sign: Sign, verdict: Verdict, now: float) -> bool:
        """Count one call. Returns whether the breaker has to open.

        Args:
            now: seconds on any clock that never goes back.
        """
        if sign is Sign.NONE:
            return False
        failed = sign is not Sign.ALIVE
        self._row = self._row + 1 if failed else 0
        opens = sign is Sign.FAULT or self._row >= self._rule.failures or self._fails_often(failed, now)
        before = self._unsaid
        self._unsaid = (
            replace(
                before,
                failures=before.failures + 1,
                opens=before.opens or opens,
                error_code=verdict.error_code,
                error_message=verdict.error_message,
            )
            if failed
            else replace(before, alive=True, failures=0)
        )
        self._look()
        return opens

    def take(self, generation: int, known_failures: int) -> Calls | None:
        """What the others have to know, and have not been told; None when that is nothing, as it is while all is well.

        Args:
            known_failures: those in a row that they have been told of.
        """
        unsaid, self._unsaid = self._unsaid, Calls(0)
        self._look()
        if unsaid.opens or unsaid.failures or (unsaid.alive and known_failures):
            return replace(unsaid, generation=generation)
        return None

    def put_back(self, calls: Calls) -> None:
        """They could not be told."""
        later = self._unsaid
        self._unsaid = Calls(
            0,
            alive=calls.alive or later.alive,
            failures=later.failures if later.alive else calls.failures + later.failures,
            opens=calls.opens or later.opens,
            error_code=later.error_code or calls.error_code,
            error_message=later.error_message or calls.error_message,
        )
        self._look()

    def forget(self) -> None:
        """Its breaker has changed: what was counted before belongs to another generation."""
        self._row, self._unsaid = 0, Calls(0)
        if self._window is not None:
            self._window = Window(self._rule.window_seconds)
        self._look()

    def _look(self) -> None:
        self.is_idle = self._window is None and not self._row and not self._unsaid.failures

    def _fails_often(self, failed: bool, now: float) -> bool:
        if self._window is None:
            return False
        calls, failures = self._window.add(failed, now)
        return failed and calls >= self._rule.min_volume and failures >= self._rule.failure_rate * calls


class Window:
    """Counts calls and failures of the last seconds, exact to a tenth of them."""

    SLOT_COUNT = 10

    def __init__(self, seconds: float) -> None:
        self._slot_seconds = seconds / self.SLOT_COUNT
        self._slots: deque[list[int]] = deque()  # number of the slot, calls, failures

    def add(self, failed: bool, now: float) -> tuple[int, int]:
        """Count one call. Returns how many fell into the window, and how many of them failed."""
        slot = int(now // self._slot_seconds)
        if not self._slots or self._slots[-1][0] != slot:
            self._slots.append([slot, 0, 0])
        self._slots[-1][1] += 1
        self._slots[-1][2] += failed
        while self._slots[0][0] <= slot - self.SLOT_COUNT:
            self._slots.popleft()
        return sum(s[1] for s in self._slots), sum(s[2] for s in self._slots)


def _holds(breaker: Breaker, token: UUID) -> bool:
    return breaker.state is BreakerState.HALF_OPEN and breaker.probe_token == token


def _opened(breaker: Breaker, rule: BreakerRule, now: datetime) -> Breaker:
    return _next(
        breaker,
        state=BreakerState.OPEN,
        failing_since=breaker.failing_since or now,
        opened_at=now,
        probe_due_at=now + timedelta(seconds=rule.cooldown_seconds),
        probe_token=None,
        probe_until=None,
        trips=breaker.trips + 1,
    )


def _waiting(breaker: Breaker, probe_due_at: datetime) -> Breaker:
    return _next(breaker, state=BreakerState.OPEN, probe_due_at=probe_due_at, probe_token=None, probe_until=None)


def _next(breaker: Breaker, **changes: Any) -> Breaker:
    return replace(breaker, generation=breaker.generation + 1, **changes)
