"""Waking the dispatcher's main thread."""

from __future__ import annotations

import queue


class Bell:
    """Like an event, but safe to ring from a signal handler too: `threading.Event.set` may wait there for a lock that
    the interrupted thread holds, and `SimpleQueue.put` never does."""

    def __init__(self) -> None:
        self._rings: queue.SimpleQueue[None] = queue.SimpleQueue()

    def ring(self) -> None:
        self._rings.put(None)

    def wait(self, seconds: float) -> None:
        """Wait for a ring, at most so long. All rings so far count as one."""
        try:
            self._rings.get(timeout=max(0.0, seconds))
            while True:
                self._rings.get_nowait()
        except queue.Empty:
            return
