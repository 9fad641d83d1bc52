"""What the breakers cost while all is well, beside all else that draining the queue takes.

Two parts of a worker ask for the health of the providers: the round before each claim, and each delivery. Both are
done here with it and without, four times each, in an order that has whatever drifts meanwhile fall on both alike. The
claim and the settle, which are the same for both, are only timed. All is done in one thread by the worker's own parts,
and each claim gives one comparison.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ParamSpec, TypeVar

from notifications import queue
from notifications.channel import Channel
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.delivery.health import NO_SETTINGS, READ_EVERY_SECONDS, Health
from notifications.delivery.held import Finished, Held
from notifications.delivery.line import Ticket
from notifications.delivery.settler import write
from notifications.delivery.terms import rated, terms_of
from notifications.providers.base import Provider
from notifications.providers.chains import Chain, Chains
from notifications.queue import Claimer, Limits
from notifications.retry import Backoff
from notifications.verdict import Verdict
from notifyq.bench import rows
from notifyq.bench.deliver import RATE_LIMIT, a_noop_provider
from notifyq.bench.plan import Plan, progress, tell, tell_share
from notifyq.runtime.clock import elapsed

Result = TypeVar("Result")
P = ParamSpec("P")
Times = Mapping[str, float]
CLOCKS: Mapping[str, Callable[[], float]] = {"computing": time.process_time, "time": time.perf_counter}
READINGS = 50
ORDER: tuple[bool, ...] = (True, False, False, True, False, True, True, False)
"""With it or without; the next claim has the opposite."""
USABLE_SECONDS = 21.0
CLAIMER = Claimer("bench", 300.0, Limits(RATE_LIMIT, USABLE_SECONDS))


class NoHealth(Health):
    """Stands in for the health of the providers: every call may be made, and nothing is kept of it."""

    def __init__(self, provider: Provider) -> None:
        super().__init__()
        self._one_for_all = Ticket(Channel.EMAIL, provider)

    def admit(self, channel: Channel, provider: Provider, sender: Mapping[str, str] = NO_SETTINGS) -> Ticket | None:
        return self._one_for_all

    def report(self, ticket: Ticket, verdict: Verdict, *, bug: bool = False, is_personal: bool = False) -> None:
        pass

    def refresh(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Compared:
    """What the rows of one claim took, in seconds for each, by one clock."""

    round_with: float
    round_without: float
    delivery_with: float
    delivery_without: float
    rest: float

    @property
    def whole(self) -> float:
        """Without the health of the providers."""
        return self.round_without + self.delivery_without + self.rest

    @property
    def share(self) -> float:
        """What asking for it in the round, and before and after each call, adds to the whole."""
        added = self.round_with - self.round_without + self.delivery_with - self.delivery_without
        return added / self.whole


def run(plan: Plan) -> None:
    """One comparison for each claim of each round."""
    bench = Bench(plan.batch_size)
    rows.clear()
    rows.prepare(max(plan.count, 2 * plan.batch_size))
    found: list[Mapping[str, Compared]] = []
    for number in range(1, plan.rounds + 1):
        progress(f"breakers: round {number} of {plan.rounds}")
        rows.renew()
        found += list(bench.drain(plan.seconds))[1:]  # the first is not warm yet
    if not found:
        tell("breakers: the time was up before two claims were compared; give it more --seconds")
        return
    for clock in CLOCKS:
        _tell(clock, [each[clock] for each in found])


def _tell(clock: str, found: Sequence[Compared]) -> None:
    """The reading twice a second falls on a few of the comparisons only, which a median passes over: so it is added,
    as the part of each second that it takes."""
    reading = median(timed(Health().refresh)[1][clock] for _ in range(READINGS)) / READ_EVERY_SECONDS
    microseconds = median(each.whole for each in found) * 1e6
    tell_share("breakers", [each.share + reading for each in found], f"the {clock} ({microseconds:.1f} µs a row)")


class Bench:
    """The worker's way from the claim to the settle, in the calling thread."""

    def __init__(self, batch_size: int) -> None:
        provider = a_noop_provider()
        self._chains: Chains = {Channel.EMAIL: Chain((provider,))}
        self._controls = Controls()
        self._batch_size = batch_size
        self._with, self._without = self._deliverer(Health()), self._deliverer(NoHealth(provider))
        self._order = ORDER

    def drain(self, seconds: float) -> Iterator[Mapping[str, Compared]]:
        """By each clock, for one claim after the other until nothing is left or the time is up."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until and (compared := self._compare()):
            yield compared

    def _deliverer(self, health: Health) -> Deliverer:
        return Deliverer(
            self._chains,
            Backoff(1.0, 60.0),
            10.0,
            lambda held, provider: True,
            lambda client_id: NO_SETTINGS,
            self._controls,
            health,
        )

    def _compare(self) -> Mapping[str, Compared] | None:
        self._order = tuple(not is_with for is_with in self._order)
        in_turn = [self._with if is_with else self._without for is_with in self._order]
        rounds = [timed(self._round, deliverer.health) for deliverer in in_turn]
        held, claiming = timed(self._claim, rounds[0][0])
        if not held:
            return None
        deliveries = [timed(_deliver, deliverer, held) for deliverer in in_turn]
        _, settling = timed(write, deliveries[0][0], "bench")
        return {
            clock: Compared(
                *self._of_both([times[clock] / len(held) for _, times in rounds]),
                *self._of_both([times[clock] / len(held) for _, times in deliveries]),
                (claiming[clock] + settling[clock]) / len(held),
            )
            for clock in CLOCKS
        }

    def _of_both(self, seconds: Sequence[float]) -> tuple[float, float]:
        """Of those with and those without, the median: one that was interrupted does not count."""
        both = list(zip(self._order, seconds, strict=True))
        return median(s for is_with, s in both if is_with), median(s for is_with, s in both if not is_with)

    def _round(self, health: Health) -> queue.Terms:
        health.refresh()
        rated(self._chains, health)
        return terms_of(self._chains, health, self._controls.stop_provider, lambda channel: 0)

    def _claim(self, terms: queue.Terms) -> list[Held]:
        before = elapsed()
        claim = queue.claim(CLAIMER, self._batch_size, terms=terms)
        return [Held.since(row, before, USABLE_SECONDS) for row in claim.rows]


def _deliver(deliverer: Deliverer, held: Sequence[Held]) -> list[Finished]:
    """It costs nobody anything, so each may be delivered as often as it is timed."""
    return [deliverer.deliver(one) for one in held]


def timed(act: Callable[P, Result], *args: P.args, **options: P.kwargs) -> tuple[Result, Times]:
    """What it returns, and how many seconds it took by each clock."""
    before = {name: clock() for name, clock in CLOCKS.items()}
    result = act(*args, **options)
    return result, {name: clock() - before[name] for name, clock in CLOCKS.items()}
