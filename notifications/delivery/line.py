"""One provider on one channel, as one worker process sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from notifications import queue
from notifications.breaker import BreakerRule, BreakerState, Sign, Tally
from notifications.channel import Channel
from notifications.providers.base import Provider
from notifications.verdict import Verdict
from notifyq.runtime.clock import elapsed


@dataclass(frozen=True, slots=True)
class Ticket:
    """The leave to make one call.

    Attributes:
        generation: of the breaker that gave it.
        probe: the token, when this call is the probe.
        good_until: on the worker's clock: a probe that has not begun by then is somebody else's.
        line: whose breaker gave it; None when the call goes through an account of the client's own, which no breaker
            knows anything of.
    """

    channel: Channel
    provider: Provider
    line: Line | None = field(default=None, repr=False, compare=False)
    generation: int = 0
    probe: UUID | None = None
    good_until: float = float("inf")


class Line:
    """One (channel, provider). What is read of it without the lock is replaced whole, or by one assignment.

    Attributes:
        opened_here_at: this process has opened it, and the others have not been told, or it has not read of it yet.
        is_closed: calls go through.
        ticket: for any of these calls, made with the first.
        asking: a thread is waiting to be told whether the probe is its own.
        ended: probes of this process that the others do not know the end of, and what came back; no sign stands for one
            that was not made.
    """

    def __init__(self, rule: BreakerRule) -> None:
        self.rule = rule
        self.seen = queue.Seen()
        self.read_at = elapsed()
        self.opened_here_at: float | None = None
        self.is_closed = True
        self.ticket: Ticket | None = None
        self.tally = Tally(rule)
        self.asking = False
        self.ended: list[tuple[UUID, Sign | None, Verdict | None]] = []

    @property
    def is_quiet(self) -> bool:
        """An answered call would change nothing."""
        return self.is_closed and not self.seen.failures and self.tally.is_idle

    def open_here(self) -> bool:
        """Open it in this process, before the others know. Returns whether it was closed."""
        if not self.is_closed:
            return False
        self.opened_here_at, self.is_closed, self.ticket = elapsed(), False, None
        return True

    def adopt(self, seen: queue.Seen, read_at: float) -> None:
        changed = seen.generation != self.seen.generation
        self.seen, self.read_at = seen, read_at
        if changed:
            self.tally.forget()
            self.opened_here_at = self.ticket = None
        self.is_closed = seen.state is BreakerState.CLOSED and self.opened_here_at is None

    def probe_in_seconds(self) -> float | None:
        """Until the probe may be asked for, negative when it may be; None when there is none to be had."""
        if self.opened_here_at is not None:
            return self.opened_here_at + self.rule.cooldown_seconds - elapsed()
        if self.seen.probe_in_seconds is None:
            return None
        return self.read_at + self.seen.probe_in_seconds - elapsed()

    def failing_seconds(self) -> float:
        if self.opened_here_at is not None:
            return elapsed() - self.opened_here_at
        return self.seen.failing_seconds + elapsed() - self.read_at
