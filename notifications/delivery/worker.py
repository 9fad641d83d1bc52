"""One worker process: a claimer, a pool of delivery threads, a settler, and the upkeep of the queue."""

from __future__ import annotations

import logging
import random
import secrets
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID, uuid4

from django.db import DatabaseError, connection

from notifications import metrics, outcome, queue
from notifications.breaker import BreakerRule
from notifications.channel import Channel
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.delivery.health import Health
from notifications.delivery.held import Finished, Held
from notifications.delivery.pace import Pace
from notifications.delivery.pool import DeliveryPool
from notifications.delivery.reconciler import Reconciler
from notifications.delivery.senders import Senders
from notifications.delivery.settler import Settler
from notifications.delivery.starter import Starter
from notifications.delivery.terms import out_of_service, rated, terms_of
from notifications.delivery.upkeep import Upkeep, askable_of, report_expired
from notifications.providers.chains import Chains
from notifications.retry import Backoff
from notifyq.leasing.claim import STATEMENT_TIMEOUT_SECONDS
from notifyq.runtime.clock import elapsed
from notifyq.runtime.loop import Rounds
from notifyq.runtime.wakeup import QUEUE_CHANNEL, Listener
from ratelimits import ledger
from ratelimits.window import Limit

log = logging.getLogger(__name__)

BUFFER_SECONDS = 0.5
"""How much work is held ready beyond the seats: long enough to keep them busy over a claim, short enough that a HIGH
notification finds little before it and a dead worker leaves few behind."""

LOOKUP_BACKOFF = Backoff(2.0, 600.0)
RATED_WAIT_SECONDS = 0.25
"""How soon it is looked again whether a provider's own rate allows more."""

UNSURE_SECONDS = STATEMENT_TIMEOUT_SECONDS + 5.0
"""For so long after a claim that failed the server may still commit it."""


class Role(StrEnum):
    """What a worker process claims."""

    DELIVERY = "delivery"
    """What is due."""
    QUARANTINE = "quarantine"
    """What a dead worker left, one at a time: so a poison takes nothing with it."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker works. Durations are seconds."""

    role: Role
    seat_count: int
    batch_size: int
    channels: tuple[Channel, ...]
    lease_seconds: float
    send_timeout_seconds: float
    poll_seconds: float
    grace_seconds: float
    backoff: Backoff
    rate_limit: Limit | None
    wakeup: bool
    drain: bool
    aging_seconds: float = 0.0
    """What has been due for so long is served like a HIGH one; 0 for never."""
    lookup_backoff: Backoff = LOOKUP_BACKOFF
    """Between two questions about the same send in doubt."""
    breaker_rules: Mapping[str, BreakerRule] = field(default_factory=dict)
    """By the provider's name; the usual one where it is missing."""
    provider_rates: Mapping[str, float] = field(default_factory=dict)
    """Calls a second, over all workers, of the providers that have a rate of their own."""
    send_timeouts: Mapping[Channel, float] = field(default_factory=dict)
    """Of single channels; `send_timeout_seconds`, the longest, where one is missing."""

    @property
    def usable_seconds(self) -> float:
        """From a claim to the end of the last send that may be made of it: a send that waits in the buffer behind
        another may still begin when that one has used its whole timeout, and a slot of a rate limit is held no longer
        than that takes."""
        return min(self.lease_seconds, 2 * self.send_timeout_seconds + 1.0)


def new_worker_id(role: str) -> str:
    """Unique for ever, and readable: a dead process must not share its name with a living one."""
    return f"{socket.gethostname()[:40]}:{role}:{secrets.token_hex(4)}"


class Worker:
    """Claims, delivers and settles until it is told to stop.

    Args:
        is_orphan: whether the supervisor is gone; then the worker stops in good order.
    """

    def __init__(
        self, worker_id: str, options: WorkerOptions, chains: Chains, is_orphan: Callable[[], bool] = lambda: False
    ) -> None:
        self.id = worker_id
        self._options = options
        self._is_orphan = is_orphan
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._rounds = Rounds("claimer", self._stop, metrics.record_round_error)
        self._settler = Settler(worker_id, self._wake.set)
        self._starter = Starter(options.send_timeout_seconds)
        self._senders = Senders()
        self._controls = Controls()
        self._chains = chains
        self._health = Health(
            options.breaker_rules, Pace(options.provider_rates), options.send_timeout_seconds, self._wake.set
        )
        deliverer = Deliverer(
            chains,
            options.backoff,
            options.send_timeout_seconds,
            self._starter.begin,
            self._senders.of,
            self._controls,
            self._health,
            options.send_timeouts,
        )
        self._pool = DeliveryPool(deliverer.deliver, self._settler.put, self._wake.set, options.seat_count)
        self._upkeep = Upkeep(chains, options.poll_seconds, options.rate_limit, options.aging_seconds)
        self._reconciler = Reconciler(
            worker_id,
            chains,
            options.lookup_backoff,
            timeout_seconds=options.send_timeout_seconds,
            poll_seconds=options.poll_seconds,
        )
        self._listener = Listener(QUEUE_CHANNEL, self._wake.set)
        self._claimer = queue.Claimer(
            worker_id,
            options.lease_seconds,
            queue.Limits(options.rate_limit, options.usable_seconds),
            options.channels,
            suspects=options.role is Role.QUARANTINE,
            serving=lambda channel, recipient: [p.name for p in chains[channel].serving(recipient).providers],
            askable=askable_of(chains),
        )
        self._rate = _Rate()
        self._unsure: dict[UUID, float] = {}
        self._beat_at = 0.0

    def stop(self) -> None:
        """Claim no more; `run` finishes or gives back what is held. Safe to repeat, and from any thread, but not from a
        signal handler."""
        self._stop.set()
        self._wake.set()

    def run(self) -> bool:
        """Work until stopped (or, draining, until nothing is due). Returns whether all that was held is settled."""
        log.info("worker_started", extra={"worker_id": self.id, "role": self._options.role})
        self._start_threads()
        wait_seconds = 0.0
        while not self._stop.is_set():
            self._wake.wait(wait_seconds)
            self._wake.clear()
            wait_seconds = self._rounds.run(self._round) or 0.0
            if self._is_done():
                self.stop()
        return self._finish()

    def claim_once(self) -> int:
        """One round of claiming: fill the free seats and the buffer. Returns how many were moved from where they were.

        Raises:
            DatabaseError: nothing was claimed, or what was is given back in one of the next rounds.
        """
        room, terms = self._room(), self._terms()
        if room <= 0 or terms.closed >= self._served:
            return 0
        before, token = elapsed(), uuid4()
        try:
            claim = queue.claim(self._claimer, room, token=token, terms=terms)
        except DatabaseError:
            self._unsure[token] = before + UNSURE_SECONDS
            raise
        if claim.rows:
            metrics.record_claim(len(claim.rows), elapsed() - before)
            self._hold([Held.since(row, before, self._options.usable_seconds) for row in claim.rows])
        report_expired(claim.expired)
        return claim.moved_count

    @property
    def _served(self) -> frozenset[Channel]:
        return frozenset(self._options.channels or self._chains)

    def _terms(self) -> queue.Terms:
        return terms_of(self._chains, self._health, self._controls.stop_provider, self._pool.waiting_count)

    def _lease_calls(self) -> None:
        """Of the providers' own rates, for what is due or held."""
        for name, channels in rated(self._chains, self._health).items():
            served = [channel for channel in channels if channel in self._served]
            if served and not self._health.pace.stock(name) and self._has_work(served):
                self._health.pace.lease(name)

    def _has_work(self, channels: Sequence[Channel]) -> bool:
        if any(map(self._pool.waiting_count, channels)):
            return True
        waiting = self._next_due_in_seconds(channels)
        return waiting is not None and waiting <= 0

    def _next_due_in_seconds(self, channels: Sequence[Channel]) -> float | None:
        return queue.next_due_in_seconds(channels=channels, suspects=self._options.role is Role.QUARANTINE)

    def _hold(self, rows: Sequence[Held]) -> None:
        try:
            self._senders.refresh({held.claimed.client_id for held in rows})
        except DatabaseError:
            self._give_back(rows)  # they are ours already, and would wait for their lease otherwise
            raise
        self._pool.put(rows)

    def _abandon_unsure(self) -> None:
        if self._unsure:
            metrics.record_released(queue.abandon(list(self._unsure)))
            self._unsure = {token: until for token, until in self._unsure.items() if elapsed() < until}

    def _round(self) -> float:
        """One round of the claimer. Returns how many seconds to wait for the next, unless woken.

        Raises:
            DatabaseError: the round is tried again.
        """
        self._beat()
        self._controls.refresh()
        self._health.refresh()
        self._lease_calls()
        self._abandon_unsure()
        self._upkeep.run_once()
        self._nothing_due = False
        if self._room() <= 0:
            return self._options.poll_seconds  # the pool wakes us when it runs low
        if self.claim_once():
            return 0.0 if self._room() > 0 else self._options.poll_seconds
        if closed := self._terms().closed:
            return self._idle_while_closed(closed)
        waiting = self._next_due_in_seconds(self._options.channels)
        self._nothing_due = waiting is None or waiting > 0
        gate = ledger.next_release_in_seconds()
        return self._idle_seconds(min((w for w in (waiting, gate) if w is not None), default=None))

    def _idle_while_closed(self, closed: frozenset[Channel]) -> float:
        """What is overdue in a channel that nothing is taken of must not hide what is due soon in another; and a drain
        does not wait for what nobody can send."""
        out = out_of_service(self._chains, self._health, self._controls.stop_provider)
        waiting = self._next_due_of(self._served - out)
        self._nothing_due = waiting is None or waiting > 0
        idle = self._idle_seconds(self._next_due_of(self._served - closed))
        if waiting is None or closed <= out:
            return idle
        return min(idle, max(RATED_WAIT_SECONDS, waiting))  # for what waits for a provider's own rate

    def _next_due_of(self, channels: frozenset[Channel]) -> float | None:
        return self._next_due_in_seconds(sorted(channels)) if channels else None

    def _idle_seconds(self, next_due: float | None) -> float:
        poll = self._options.poll_seconds * random.uniform(0.75, 1.0)
        if next_due is None or next_due < -0.1:  # nothing, or only what others hold locked
            return poll
        return min(poll, max(0.005, next_due))

    def _room(self) -> int:
        """How many may be claimed now: never more than a batch, and none while little room is left."""
        if self._options.role is Role.QUARANTINE:
            # Alone means until its verdict is written: one that is only in memory dies with the next.
            return 1 - self._pool.held_count - self._settler.unsettled_count
        buffer = int(self._rate.per_second(self._pool.finished_count) * BUFFER_SECONDS)
        capacity = self._options.seat_count + min(max(buffer, self._options.seat_count), 2 * self._options.batch_size)
        if self._settler.unsettled_count > 2 * capacity:
            return 0  # while verdicts cannot be written, nothing more should be sent; the settler wakes us
        room = capacity - self._pool.held_count
        return min(room, self._options.batch_size) if room >= capacity // 4 else 0

    def _beat(self) -> None:
        if elapsed() - self._beat_at >= min(1.0, self._options.poll_seconds * 2):
            queue.beat(
                self.id,
                role=self._options.role,
                held_count=self._pool.held_count,
                buffered_count=self._pool.buffered_count,
                finished_count=self._pool.finished_count,
                seat_count=self._options.seat_count,
            )
            self._beat_at = elapsed()

    def _is_done(self) -> bool:
        parts = (self._settler, self._starter, self._reconciler)
        if not (self._pool.is_whole and all(part.is_alive for part in parts)):
            # The supervisor starts another and takes back what this one held.
            raise SystemExit("a thread of this worker has died")
        held_count = self._pool.held_count + self._settler.unsettled_count
        idle = self._nothing_due and not held_count and self._reconciler.is_idle
        return (self._options.drain and idle) or self._is_orphan()

    def _start_threads(self) -> None:
        self._nothing_due = False
        self._settler.start()
        self._starter.start()
        self._pool.start()
        self._reconciler.start()
        if self._options.wakeup:
            self._listener.start()

    def _finish(self) -> bool:
        """Give back what was not begun, finish what is in flight, settle, leave: all within the grace period."""
        until = elapsed() + self._options.grace_seconds
        self._give_back(self._pool.take_back())
        idle = self._pool.wait_idle(max(0.0, until - elapsed()))
        self._pool.close()
        self._starter.close()
        settled = self._settler.close(max(0.1, until - elapsed()))
        self._reconciler.close(max(0.1, until - elapsed()))
        self._rounds.run(self._health.refresh)
        self._listener.stop()
        self._rounds.run(lambda: queue.leave(self.id))
        connection.close()
        log.info("worker_stopped", extra={"worker_id": self.id, "all_settled": idle and settled})
        return idle and settled

    def _give_back(self, unstarted: Sequence[Held]) -> None:
        for held in unstarted:
            self._settler.put(Finished(held, outcome.given_back(held.claimed.standing), give_back=True))


class _Rate:
    """Deliveries per second, over about the last second."""

    def __init__(self) -> None:
        self._count, self._at, self._value = 0, elapsed(), 0.0

    def per_second(self, finished_count: int) -> float:
        now = elapsed()
        if (passed := now - self._at) >= 0.02:
            latest = (finished_count - self._count) / passed
            self._value += (latest - self._value) * min(1.0, passed * 2)
            self._count, self._at = finished_count, now
        return self._value
