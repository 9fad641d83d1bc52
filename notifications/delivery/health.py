"""The health of the providers, as one worker process knows it: asked before each call, told of each verdict.

While all is well this costs one look-up for each call and writes nothing. What goes wrong is counted here, takes
effect here at once, and is told to the other workers by the claimer in its next round, as one change for each provider.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from uuid import UUID

from notifications import metrics, queue
from notifications.breaker import (
    PROBE_MARGIN_SECONDS,
    PROBE_TIMEOUT_SECONDS,
    BreakerRule,
    Sign,
    Wait,
    sign_of,
    wait_while_open,
)
from notifications.channel import Channel
from notifications.delivery.line import Line, Ticket
from notifications.delivery.pace import Pace
from notifications.providers.base import Provider
from notifications.verdict import Outcome, Verdict
from notifyq.runtime.clock import elapsed

log = logging.getLogger(__name__)

READ_EVERY_SECONDS = 0.5
ASK_SECONDS = 3.0
"""So long a delivery thread waits to be told whether the probe is its own."""

NO_CALL_LEFT = Wait(0.5, 1.0)
"""For what needs a provider whose own rate is used up for the moment."""

NO_SETTINGS: Mapping[str, str] = {}
Key = tuple[Channel, str]
_NO_RULE = BreakerRule()


class Health:
    """One per process. Delivery threads call `admit`, then `report` or `cancel`; the claimer calls `refresh`.

    Args:
        rules: by the provider's name; the usual one where it is missing.
        pace: how fast the providers may be called.
        send_timeout_seconds: bound on one call.
        wake: called when there is something to be told, or asked, soon.
    """

    def __init__(
        self,
        rules: Mapping[str, BreakerRule] | None = None,
        pace: Pace | None = None,
        send_timeout_seconds: float = PROBE_TIMEOUT_SECONDS,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.pace = pace or Pace()
        self._rules = rules or {}
        self._wake = wake
        self._probe_lease_seconds = min(send_timeout_seconds, PROBE_TIMEOUT_SECONDS) + PROBE_MARGIN_SECONDS
        self._lines: dict[Key, Line] = {}
        self._lock = threading.Lock()
        self._wishes: list[tuple[Key, Future[UUID | None]]] = []
        self._read_at = float("-inf")

    def admit(self, channel: Channel, provider: Provider, sender: Mapping[str, str] = NO_SETTINGS) -> Ticket | None:
        """Whether the provider may be called now: its breaker lets calls through, or gives this one its probe; and it
        is not called faster than it may be. Every ticket has to be reported, or cancelled.

        Blocks for as long as the claimer needs to ask for the probe, and only when that is due.

        Args:
            sender: the client's own sending settings.
        """
        if sender and provider.is_senders_own(sender):
            return Ticket(channel, provider)
        line = self._lines.get((channel, provider.name)) or self._line(channel, provider.name)
        if line.ticket is not None and self.pace.is_free:  # as nearly always
            return line.ticket
        if not line.is_closed and not self._may_ask(line):
            return None
        if not self.pace.take(provider.name):
            return None
        if line.is_closed:
            return self._ticket(line, channel, provider)
        ticket = self._ask(line, channel, provider)
        if ticket is None:
            self.pace.give_back(provider.name)
        return ticket

    def report(self, ticket: Ticket, verdict: Verdict, *, bug: bool = False, is_personal: bool = False) -> None:
        """The call has ended.

        Args:
            bug: it was our own code that failed, which says nothing of the provider.
            is_personal: it was made with sending settings of the client's own: a fault of the account may be theirs.
        """
        line = ticket.line
        if line is None:
            return
        if verdict.outcome is Outcome.ACCEPTED and ticket is line.ticket and line.is_quiet:
            return
        sign = Sign.NONE if bug else sign_of(verdict)
        sign = Sign.NONE if is_personal and sign is Sign.FAULT else sign
        if verdict.throttled and self.pace.heed(ticket.provider, verdict):
            self._wake()
        if ticket.probe is not None:
            self._end_probe(line, ticket.probe, sign, verdict)
        elif not (sign is Sign.ALIVE and line.is_quiet):
            self._count(line, ticket, sign, verdict)

    def cancel(self, ticket: Ticket) -> None:
        """The call was not made."""
        if ticket.line is None:
            return
        self.pace.give_back(ticket.provider.name)
        if ticket.probe is not None:
            self._end_probe(ticket.line, ticket.probe, None)

    def is_open(self, channel: Channel, name: str) -> bool:
        """Whether the breaker lets no ordinary call through."""
        return not self._line(channel, name).is_closed

    def is_probe_due(self, channel: Channel, name: str) -> bool:
        """Whether the next call may be the probe of an open breaker."""
        line = self._line(channel, name)
        return not line.is_closed and self._may_ask(line) and not self.pace.throttled_seconds(name)

    def wait_for(self, channel: Channel, name: str) -> Wait:
        """How long what needs this provider had better wait for it."""
        line, resting = self._line(channel, name), self.pace.throttled_seconds(name)
        if not line.is_closed:
            waiting = line.probe_in_seconds()
            return wait_while_open(
                until_probe_seconds=None if waiting is None else max(waiting, resting),
                failing_seconds=line.failing_seconds(),
                cooldown_seconds=line.rule.cooldown_seconds,
            )
        return Wait(resting, max(0.1, resting / 10)) if resting else NO_CALL_LEFT

    @property
    def is_all_well(self) -> bool:
        """Nothing is open, nobody asked for a rest, and no provider has a rate of its own."""
        return self.pace.is_free and all(line.is_closed for line in list(self._lines.values()))

    def refresh(self) -> None:
        """One round: answer those who ask for a probe, tell the others what they do not know, and read what they told;
        at least twice a second, in one or two statements while all is well.

        Raises:
            DatabaseError: what could not be told is told in the next round.
        """
        self._answer_wishes()
        told = self._tell_others() + self.pace.tell()
        if not told and elapsed() - self._read_at < READ_EVERY_SECONDS:
            return
        before = elapsed()
        breakers, paces = queue.read_breakers(), queue.read_paces()
        with self._lock:
            for key in {*self._lines, *breakers}:
                self._line_locked(key).adopt(breakers.get(key, queue.Seen()), before)
        self.pace.adopt(paces)
        self._read_at = before

    def _line(self, channel: Channel, name: str) -> Line:
        line = self._lines.get((channel, name))
        if line is None:
            with self._lock:
                line = self._line_locked((channel, name))
        return line

    def _line_locked(self, key: Key) -> Line:
        if key not in self._lines:
            self._lines[key] = Line(self._rules.get(key[1], _NO_RULE))
        return self._lines[key]

    def _ticket(self, line: Line, channel: Channel, provider: Provider) -> Ticket:
        with self._lock:
            ticket = Ticket(channel, provider, line, line.seen.generation)
            if line.is_closed:
                line.ticket = ticket
        return ticket

    def _may_ask(self, line: Line) -> bool:
        waiting = line.probe_in_seconds()
        return not line.asking and waiting is not None and waiting <= 0

    def _ask(self, line: Line, channel: Channel, provider: Provider) -> Ticket | None:
        with self._lock:
            if not self._may_ask(line):
                return None
            line.asking = True
            answer: Future[UUID | None] = Future()
            self._wishes.append(((channel, provider.name), answer))
        before = elapsed()
        self._wake()
        try:
            token = answer.result(ASK_SECONDS)
        except TimeoutError:
            answer.cancel()
            token = None
        line.asking = False
        if token is None:
            return None
        good_until = before + PROBE_MARGIN_SECONDS
        return Ticket(channel, provider, line, line.seen.generation, token, good_until)

    def _answer_wishes(self) -> None:
        with self._lock:
            wishes, self._wishes = self._wishes, []
        for key, answer in wishes:
            token = queue.begin_probe(key, self._probe_lease_seconds)
            try:
                answer.set_result(token)
            except InvalidStateError:  # it stopped waiting in the meantime
                if token is not None:
                    self._end_probe(self._line(*key), token, None)
            self._read_at = float("-inf")

    def _end_probe(self, line: Line, token: UUID, sign: Sign | None, verdict: Verdict | None = None) -> None:
        with self._lock:
            line.ended.append((token, sign, verdict))
        self._wake()

    def _count(self, line: Line, ticket: Ticket, sign: Sign, verdict: Verdict) -> None:
        with self._lock:
            if ticket.generation != line.seen.generation:
                return  # its breaker has changed since
            opens = line.tally.add(sign, verdict, elapsed()) and line.open_here()
        if opens:
            log.warning(
                "provider_failing",
                extra={
                    "channel": ticket.channel,
                    "provider": ticket.provider.name,
                    "error_code": verdict.error_code,
                },
            )
            self._wake()

    def _tell_others(self) -> int:
        told = 0
        for key, line in list(self._lines.items()):
            told += self._tell_of_probes(key, line) + self._tell_of_calls(key, line)
        return told

    def _tell_of_probes(self, key: Key, line: Line) -> int:
        told = 0
        while line.ended:
            token, sign, verdict = line.ended[0]
            self._note(key, queue.end_probe(key, token, sign, line.rule, verdict))
            with self._lock:
                line.ended.pop(0)
            told += 1
        return told

    def _tell_of_calls(self, key: Key, line: Line) -> int:
        if not line.tally.has_news:
            return 0
        with self._lock:
            calls = line.tally.take(line.seen.generation, line.seen.failures)
        if calls is None:
            return 0
        try:
            self._note(key, queue.record_calls(key, calls, line.rule))
        except BaseException:
            with self._lock:
                line.tally.put_back(calls)
            raise
        return 1

    def _note(self, key: Key, change: queue.Change) -> None:
        """One line in the log for each change of state, by the process that made it."""
        if change.after.state is change.before.state:
            return
        if change.opened:
            metrics.record_breaker_trip(*key)
        log.warning(
            "breaker_changed",
            extra={
                "channel": key[0],
                "provider": key[1],
                "before": change.before.state,
                "after": change.after.state,
            },
        )
