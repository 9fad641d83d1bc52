"""The dispatcher: one thread that claims and settles, and seats that make the calls."""

from __future__ import annotations

import logging
import random
import secrets
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import connection

from notifications.queue import beat, leave
from notifyq.runtime.clock import elapsed
from notifyq.runtime.loop import Rounds
from notifyq.runtime.wakeup import Listener
from webhooks import metrics, queue
from webhooks.dispatch.attempt import Done, Held, attempt
from webhooks.dispatch.bell import Bell
from webhooks.dispatch.call import EndpointCaller
from webhooks.dispatch.health import Health
from webhooks.dispatch.seats import Seats
from webhooks.dispatch.shares import Demand, allot
from webhooks.outcome import Reply
from webhooks.queue.wake import CHANNEL
from webhooks.status import EventStatus

log = logging.getLogger(__name__)

ROLE = "webhooks"
LEASE_TIMEOUTS = 3.0
"""A lease is so many timeouts long: a call, the wait for its result to be stored, and room for a slow machine."""


@dataclass(frozen=True, slots=True)
class DispatcherOptions:
    """How a dispatcher works. Durations are seconds.

    Attributes:
        forever: go on until stopped; otherwise one pass over what is due now.
    """

    seat_count: int
    max_attempts: int
    poll_seconds: float
    grace_seconds: float
    wakeup: bool
    forever: bool


class Dispatcher:
    """Delivers webhook events until it is told to stop, or until what was due has been tried."""

    def __init__(self, options: DispatcherOptions, caller: EndpointCaller) -> None:
        self.id = f"{socket.gethostname()[:40]}:{ROLE}:{secrets.token_hex(4)}"
        self.counts: Counter[EventStatus] = Counter()
        self._options = options
        self._lease_seconds = LEASE_TIMEOUTS * caller.timeout_seconds
        self._bell = Bell()
        self._stopping = False
        self._over = threading.Event()
        self._rounds = Rounds("webhooks", self._over, metrics.record_round_error)
        self._seats = Seats(partial(attempt, caller=caller), self._bell.ring, options.seat_count)
        self._health = Health()
        self._taken: Counter[UUID] = Counter()  # seats, by endpoint
        self._done: list[Done] = []
        self._started = elapsed()
        self._idle = False
        self._called_count = 0
        self._upkeep_at = self._beat_at = float("-inf")

    def stop(self) -> None:
        """Claim no more. What is on its way is finished by `run`. Safe in a signal handler and to repeat."""
        self._stopping = True
        self._seats.begin_no_more()
        self._bell.ring()

    def run(self) -> bool:
        """Work until stopped, or until the pass is over. Returns whether all that was held is settled."""
        log.info("dispatcher_started", extra={"worker_id": self.id, "forever": self._options.forever})
        self._seats.start()
        listener = Listener(CHANNEL, self._bell.ring)
        if self._options.forever and self._options.wakeup:
            listener.start()
        wait_seconds = 0.0
        while not self._is_finished():
            self._bell.wait(wait_seconds)
            wait_seconds = self._rounds.run(self.run_once) or 0.0
        listener.stop()
        return self._finish()

    def run_once(self) -> float:
        """One round: settle what is done, see to the upkeep, claim. Returns how long to wait, unless woken.

        Raises:
            DatabaseError: the round is tried again; nothing that was done is forgotten.
        """
        self._beat()
        self.settle_once()
        self._upkeep()
        if self._stopping:
            return 0.0
        # Read before the database's clock is: what was due when a pass began is never taken for later.
        cut_off = 0.0 if self._options.forever else elapsed() - self._started
        waiting = [w for w in queue.waiting_endpoints() if w.enabled]
        claimed = self._claim(waiting, cut_off)
        self._idle = not claimed and not self._taken
        later = [-w.overdue_seconds for w in waiting if w.overdue_seconds < 0]
        return max(0.005, min([self._options.poll_seconds * random.uniform(0.75, 1.0), *later]))

    def settle_once(self) -> int:
        """Store the results that are there. Returns how many.

        Raises:
            DatabaseError: they are kept, and stored by the next call.
        """
        self._done += self._seats.take_done()
        if not self._done:
            return 0
        now = elapsed()
        called = [done for done in self._done if done.reply is not None]
        queue.release([done.ending(now, self.id) for done in self._done if done.reply is None])
        applied = queue.settle([done.ending(now, self.id) for done in called])
        self._forget(self._done)
        self._called_count += len(called)
        self._report(called, {ending.id for ending in applied})
        count, self._done = len(self._done), []
        return count

    def _claim(self, waiting: Sequence[queue.Waiting], cut_off: float) -> int:
        """Fill the free seats, each endpoint by its share. Returns how many events were claimed.

        Args:
            cut_off: only what has been due for so many seconds.
        """
        before = elapsed()
        demands = [
            Demand(w.endpoint_id, w.failing or self._health.is_slow(w.endpoint_id), w.overdue_seconds)
            for w in waiting
            if w.overdue_seconds >= cut_off and (self._options.forever or not self._health.gave_up(w.endpoint_id))
        ]
        self._health.note_failing({w.endpoint_id for w in waiting if w.failing})
        shares = allot(demands, self._taken, self._health.troubled, self._seats.count)
        if not shares:
            return 0
        rows = queue.claim(
            {key: seats * self._health.run_length(key) for key, seats in shares.items()},
            worker_id=self.id,
            lease_seconds=self._lease_seconds,
            max_attempts=self._options.max_attempts,
            due_before_seconds=cut_off,
        )
        held = [Held(row, before, before + self._lease_seconds) for row in rows]
        for key, seats in shares.items():
            mine = [h for h in held if h.claimed.endpoint_id == key]
            self._begin([mine[number::seats] for number in range(min(seats, len(mine)))])
        return len(rows)

    def _begin(self, runs: Sequence[Sequence[Held]]) -> None:
        """One seat for each run, all of one endpoint; those that were told to stop meanwhile give it back."""
        for run in runs:
            self._taken[run[0].claimed.endpoint_id] += 1
            self._seats.put(run)

    def _forget(self, batch: Sequence[Done]) -> None:
        freed = Counter(done.held.claimed.endpoint_id for done in batch if done.frees_seat)
        self._taken -= freed  # drops those that come to zero

    def _upkeep(self) -> None:
        """Take back what dead dispatchers held, and end what waits for endpoints that take no more."""
        if elapsed() < self._upkeep_at:
            return
        rescued = queue.rescue(max_attempts=self._options.max_attempts)
        if rescued:
            log.warning("webhook_leases_rescued", extra={"count": rescued})
            metrics.record_rescued(rescued)
        cancelled = sum(queue.cancel_waiting(w.endpoint_id) for w in queue.waiting_endpoints() if not w.enabled)
        metrics.record_cancelled(cancelled)
        self._upkeep_at = elapsed() + (0.0 if cancelled else self._options.poll_seconds * random.uniform(0.75, 1.25))

    def _beat(self) -> None:
        if self._options.forever and elapsed() - self._beat_at >= min(1.0, self._options.poll_seconds * 2):
            beat(
                self.id,
                role=ROLE,
                held_count=self._taken.total(),
                finished_count=self._called_count,
                seat_count=self._seats.count,
            )
            self._beat_at = elapsed()

    def _is_finished(self) -> bool:
        if not self._seats.is_whole:
            raise SystemExit("a thread of this dispatcher has died")  # whoever started it starts another
        return self._stopping or (self._idle and not self._options.forever)

    def _finish(self) -> bool:
        """Finish what is on its way and settle it, within the grace period."""
        until = elapsed() + self._options.grace_seconds
        while self._taken and elapsed() < until:
            self._bell.wait(min(0.2, until - elapsed()))
            self._rounds.run(self.settle_once)
        self._over.set()
        self._seats.close()
        if self._options.forever:
            self._rounds.run(lambda: leave(self.id))
        connection.close()
        settled = not self._taken
        log.info("dispatcher_stopped", extra={"worker_id": self.id, "all_settled": settled})
        return settled

    def _report(self, batch: Sequence[Done], applied: set[UUID]) -> None:
        """Counts, metrics and logs of one batch."""
        for done in batch:
            self._health.note(done)
        counts = Counter(done.decision.status for done in batch if done.held.claimed.id in applied)
        self.counts += counts
        metrics.record_attempts(
            counts,
            [done.seconds for done in batch],
            [done.started - done.held.claimed_at + done.held.claimed.overdue_seconds for done in batch],
            len(batch) - len(applied),
        )
        for done in batch:
            if done.reply is not None and not done.reply.succeeded:
                _log_failure(done, done.reply)


def _log_failure(done: Done, reply: Reply) -> None:
    claimed = done.held.claimed
    log.info(
        "webhook_not_delivered",
        extra={
            "event_id": str(claimed.id),
            "endpoint_id": str(claimed.endpoint_id),
            "attempt": claimed.standing.attempt_number,
            "error_code": reply.error_code,
            "next_status": done.decision.status,
        },
    )
