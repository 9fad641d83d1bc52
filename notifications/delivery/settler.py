"""Writes what deliveries came to, in batches, and keeps it for as long as the database is away."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence

from django.db import connection

from notifications import metrics
from notifications.channel import Channel
from notifications.delivery.held import Finished, Hop
from notifications.queue import AttemptRecord, Ending, release, settle
from notifications.verdict import Outcome
from notifyq.runtime.clock import elapsed
from notifyq.runtime.loop import Rounds

log = logging.getLogger(__name__)

BATCH_SIZE = 500
FLUSH_SECONDS = 0.02


class Settler:
    """One thread with a connection of its own; `on_settled` is called after each batch.

    A provider's call cannot be undone, so no verdict is ever dropped: what could not be written is kept and written
    later.
    """

    def __init__(self, worker_id: str, on_settled: Callable[[], None]) -> None:
        self._worker_id = worker_id
        self._on_settled = on_settled
        self._arrived = threading.Condition()
        self._incoming: deque[Finished] = deque()
        self._batch: list[Finished] = []
        self._closing = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="settler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def unsettled_count(self) -> int:
        """Verdicts that are in memory only."""
        with self._arrived:
            return len(self._incoming) + len(self._batch)

    def put(self, finished: Finished) -> None:
        with self._arrived:
            self._incoming.append(finished)
            if len(self._incoming) in (1, BATCH_SIZE):  # what the thread waits for; in between it sleeps
                self._arrived.notify()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def close(self, timeout_seconds: float) -> bool:
        """Write all that was put, then end; False when the database stayed away for longer than that."""
        with self._arrived:
            self._closing.set()
            self._arrived.notify()
        self._thread.join(timeout_seconds)
        self._stop.set()
        return not self._thread.is_alive()

    def _run(self) -> None:
        rounds = Rounds("settler", self._stop, metrics.record_round_error)
        while not self._stop.is_set():
            rounds.run(self.flush_once)
            if self._closing.is_set() and not self.unsettled_count:
                break
        connection.close()

    def flush_once(self) -> int:
        """One round: wait for the first, gather what comes within FLUSH_SECONDS, write it. Returns how many.

        Raises:
            DatabaseError: the batch is kept, and the next round writes it.
        """
        if not self._batch:
            self._gather()
        if not self._batch:
            return 0
        write(self._batch, self._worker_id)
        count, self._batch = len(self._batch), []
        self._on_settled()
        return count

    def _gather(self) -> None:
        with self._arrived:
            self._arrived.wait_for(lambda: self._incoming or self._closing.is_set())
            self._arrived.wait_for(self._is_enough, FLUSH_SECONDS)
            self._batch = [self._incoming.popleft() for _ in range(min(len(self._incoming), BATCH_SIZE))]

    def _is_enough(self) -> bool:
        return len(self._incoming) >= BATCH_SIZE or self._closing.is_set()


def write(batch: Sequence[Finished], worker_id: str) -> None:
    """Settle what was delivered, and give back what was not begun. A repeat changes nothing.

    Raises:
        DatabaseError: not all of it was written.
    """
    began = elapsed()
    unstarted = [_ending(f, began, worker_id) for f in batch if f.give_back]
    if unstarted:
        metrics.record_released(release(unstarted))
    delivered = [f for f in batch if not f.give_back]
    if delivered:
        applied = settle([_ending(f, began, worker_id) for f in delivered])
        report(delivered, applied, elapsed() - began)


def _ending(finished: Finished, now: float, worker_id: str) -> Ending:
    claimed = finished.held.claimed
    attempts = tuple(
        _attempt(finished, number, hop, now, worker_id) for number, hop in enumerate(finished.hops, start=1)
    )
    push_group = claimed.group_id if claimed.channel is Channel.PUSH else None
    return Ending(claimed.id, claimed.token, finished.decision, attempts, push_group=push_group)


def _attempt(finished: Finished, number: int, hop: Hop, now: float, worker_id: str) -> AttemptRecord:
    claimed = finished.held.claimed
    return AttemptRecord(
        cycle=claimed.cycle,
        number=claimed.standing.attempt_number,
        hop=number,
        provider=hop.provider,
        outcome=hop.verdict.outcome,
        error_code=hop.verdict.error_code,
        error_message=hop.verdict.error_message,
        provider_message_id=hop.verdict.provider_message_id,
        started_ago_seconds=max(0.0, now - hop.started),
        finished_ago_seconds=max(0.0, now - hop.finished),
        worker_id=worker_id,
    )


def report(batch: Sequence[Finished], applied: Sequence[Ending], seconds: float) -> None:
    """Metrics and logs of one batch: one line for it, and one for each verdict other than ACCEPTED."""
    hops = [(f, hop) for f in batch for hop in f.hops]
    metrics.record_settle(len(batch), seconds)
    metrics.record_attempts(
        [(f.held.claimed.channel, h.provider, h.verdict.outcome, h.finished - h.started) for f, h in hops]
    )
    metrics.record_lateness([f.hops[0].started - f.held.due for f in batch if f.hops])
    channels = {f.held.claimed.id: f.held.claimed.channel for f in batch}
    metrics.record_finished(Counter((e.decision.status, channels[e.id]) for e in applied if e.decision.is_final))
    metrics.record_stale_settles(len(batch) - len(applied))
    for finished, hop in hops:
        if hop.verdict.outcome is not Outcome.ACCEPTED:
            _log_verdict(finished, hop)
    outcomes = Counter(str(hop.verdict.outcome) for _, hop in hops)
    log.info(
        "batch_settled",
        extra={
            "count": len(batch),
            "stale": len(batch) - len(applied),
            "outcomes": dict(outcomes),
            "seconds": round(seconds, 4),
        },
    )


def _log_verdict(finished: Finished, hop: Hop) -> None:
    claimed = finished.held.claimed
    log.info(
        "attempt_not_accepted",
        extra={
            "notification_id": str(claimed.id),
            "channel": claimed.channel,
            "provider": hop.provider,
            "attempt": claimed.standing.attempt_number,
            "outcome": hop.verdict.outcome,
            "error_code": hop.verdict.error_code,
            "next_status": finished.decision.status,
        },
    )
