"""A fixed number of threads that make calls."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from webhooks.dispatch.attempt import Done, Held, given_back

QUICK_SECONDS = 0.5


class Seats:
    """Each seat is a thread that works off a short run of events for one endpoint, one call after the other.

    A run spares the database a claim for each call where an endpoint answers quickly. After a call that was not quick
    and good the rest of the run is given back, so that nothing waits behind an endpoint in trouble. Whoever hands
    over minds `count`: there is a free thread for each run.
    """

    def __init__(self, attempt: Callable[[Held], Done], on_done: Callable[[], None], count: int) -> None:
        self.count = count
        self._attempt = attempt
        self._on_done = on_done
        self._closing = False
        self._handed: queue.SimpleQueue[Sequence[Held]] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name=f"webhook-{number}", daemon=True) for number in range(count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    @property
    def is_whole(self) -> bool:
        """All threads live. They never end by themselves; if one did, the process had better start anew."""
        return all(thread.is_alive() for thread in self._threads)

    def put(self, run: Sequence[Held]) -> None:
        """Take one free seat with at least one event. The last result of the run has `frees_seat`."""
        self._handed.put(run)

    def take_done(self) -> list[Done]:
        """What has been finished since the last time."""
        found: list[Done] = []
        while not self._done.empty():  # only one thread takes
            found.append(self._done.get())
        return found

    def begin_no_more(self) -> None:
        """Give back what has not been begun. Safe in a signal handler."""
        self._closing = True

    def close(self) -> None:
        """Let the threads end as soon as they are free."""
        for _ in self._threads:
            self._handed.put([])

    def _serve(self) -> None:
        while run := self._handed.get():
            go_on = True
            for number, held in enumerate(run, start=1):
                done = self._attempt(held) if go_on and not self._closing else given_back(held)
                go_on = done.reply is not None and done.reply.succeeded and done.seconds < QUICK_SECONDS
                self._done.put(replace(done, frees_seat=number == len(run)))
                self._on_done()
