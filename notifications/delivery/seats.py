"""A few threads that answer one kind of question; none is started before it is needed."""

from __future__ import annotations

import queue as queues
import threading
from collections.abc import Callable


class Seats:
    """At most `count` daemon threads: one that hangs keeps no process from ending. `act` must not raise."""

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._count = count
        self._acts: queues.SimpleQueue[Callable[[], None] | None] = queues.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def put(self, act: Callable[[], None]) -> None:
        """Have a thread do it, once one is free."""
        self._acts.put(act)
        if len(self._threads) < self._count:
            thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Let the threads end as soon as they are free; what nobody has begun is dropped."""
        while not self._acts.empty():
            self._acts.get()
        for _ in self._threads:
            self._acts.put(None)

    def _serve(self) -> None:
        while (act := self._acts.get()) is not None:
            act()
