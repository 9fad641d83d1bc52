"""A fixed number of threads that make calls."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from webhooks.dispatch.attempt import Done, Held


class Seats:
    """Each call has a thread of its own from the moment it is handed over: whoever hands over minds `count`."""

    def __init__(self, attempt: Callable[[Held], Done], on_done: Callable[[], None], count: int) -> None:
        self.count = count
        self._attempt = attempt
        self._on_done = on_done
        self._handed: queue.SimpleQueue[Held | None] = queue.SimpleQueue()
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

    def put(self, held: Held) -> None:
        self._handed.put(held)

    def take_done(self) -> list[Done]:
        """What has been finished since the last time."""
        found: list[Done] = []
        while not self._done.empty():  # only one thread takes
            found.append(self._done.get())
        return found

    def close(self) -> None:
        """Let the threads end as soon as they are free."""
        for _ in self._threads:
            self._handed.put(None)

    def _serve(self) -> None:
        while (held := self._handed.get()) is not None:
            self._done.put(self._attempt(held))
            self._on_done()
