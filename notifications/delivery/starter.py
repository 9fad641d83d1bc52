"""Puts the starts of sends on record, many in one statement, for threads that wait for it."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass

from django.db import connection

from notifications import metrics
from notifications.delivery.held import Held
from notifications.providers.base import Provider
from notifications.queue import Start, start_sends
from notifyq.runtime.loop import Rounds

BATCH_SIZE = 200


@dataclass(frozen=True, slots=True)
class _Wish:
    start: Start
    granted: Future[bool]


class Starter:
    """One thread with a connection; delivery threads call `begin` and wait. Idle, it costs nothing."""

    def __init__(self, send_timeout_seconds: float) -> None:
        self._send_timeout_seconds = send_timeout_seconds
        self._wishes: queue.SimpleQueue[_Wish | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="starter", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._wishes.put(None)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def begin(self, held: Held, provider: Provider) -> bool:
        """Whether the send may go on: it is on record, still ours, and its lease is long enough.

        Waits no longer than there is a lease to use: with the database away it answers False, since a send that is
        not on record must not begin.
        """
        usable_seconds = held.usable_seconds() - self._send_timeout_seconds
        wish = _Wish(Start(held.claimed.id, held.claimed.token, provider.name, self._send_timeout_seconds), Future())
        self._wishes.put(wish)
        try:
            return wish.granted.result(timeout=max(0.0, usable_seconds))
        except TimeoutError:
            wish.granted.cancel()
            return False

    def _run(self) -> None:
        rounds = Rounds("starter", self._stop, metrics.record_round_error)
        batch: list[_Wish] = []
        while not self._stop.is_set():
            batch = [w for w in batch or self._gather() if not w.granted.cancelled()]
            if rounds.run(lambda: self.grant(batch)) is not None:  # noqa: B023 (called at once)
                batch = []
        connection.close()

    def _gather(self) -> list[_Wish]:
        first = self._wishes.get()
        batch = [] if first is None else [first]
        while len(batch) < BATCH_SIZE:
            try:
                wish = self._wishes.get_nowait()
            except queue.Empty:
                break
            batch += [] if wish is None else [wish]
        return batch

    def grant(self, batch: list[_Wish]) -> int:
        """One round: put the batch on record and answer each. Returns how many.

        Raises:
            DatabaseError: nobody has been answered; the next round tries again.
        """
        if not batch:
            return 0
        granted = start_sends([wish.start for wish in batch])
        for wish in batch:
            try:
                wish.granted.set_result((wish.start.id, wish.start.token) in granted)
            except InvalidStateError:
                continue  # it stopped waiting in the meantime
        return len(batch)
