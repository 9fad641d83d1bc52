"""A true deadline for one HTTP call. `requests` bounds each read, so a peer that drips a byte a second never times out.

One watchdog thread per process shuts the socket of a call that is overdue. What was blocked on it wakes at once.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress


class Deadline:
    """The end of one call. Belongs to the thread that makes the call; only the watchdog looks in from outside.

    Attributes:
        at: on the monotonic clock, in seconds.
        fired: the socket was shut because the time was over: nothing read from it proves anything.
    """

    __slots__ = ("_abandoned", "at", "fired", "handle")

    def __init__(self, timeout_seconds: float) -> None:
        self.at = time.monotonic() + timeout_seconds
        self.fired = False
        self.handle: socket.socket | None = None
        self._abandoned = False

    def hold(self, handle: socket.socket | None) -> None:
        """Take another handle, or none; one that was abandoned is closed."""
        if self._abandoned and self.handle is not None and self.handle is not handle:
            self.handle.close()
            self._abandoned = False
        self.handle = handle

    def keep(self, handle: socket.socket) -> bool:
        """Whether `handle` is still needed here; its owner no longer needs it."""
        self._abandoned = self._abandoned or self.handle is handle
        return self.handle is handle


class Watchdog:
    """Watches the calls in flight: at most one per thread, so a scan of all of them is cheap."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watched: set[Deadline] = set()
        self._wakes_at = float("inf")
        self._thread: threading.Thread | None = None

    @property
    def watched_count(self) -> int:
        """How many calls are in flight."""
        return len(self._watched)

    def watch(self, deadline: Deadline, handle: socket.socket) -> None:
        """Shut `handle` when `deadline` passes. Watching a second socket of the same call replaces the first."""
        with self._changed:
            deadline.hold(handle)
            self._watched.add(deadline)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="send-deadlines", daemon=True)
                self._thread.start()
            if deadline.at < self._wakes_at:
                self._changed.notify()

    def release(self, deadline: Deadline) -> None:
        """The call is over."""
        with self._changed:
            self._watched.discard(deadline)
            deadline.hold(None)

    def close(self, handle: socket.socket, deadline: Deadline | None) -> None:
        """Close a socket that may be watched, at the end of its call where one goes on (`deadline`).

        A connection is closed before its last answer is read where the peer says `Connection: close`, and that answer
        has to end in time as well. Under the lock, so that the descriptor's number is not shut under a new owner.
        """
        with self._changed:
            if deadline is None or not deadline.keep(handle):
                handle.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._shut_overdue()
                self._wakes_at = min((d.at for d in self._watched), default=float("inf"))
                self._changed.wait(None if not self._watched else max(0.0, self._wakes_at - time.monotonic()))

    def _shut_overdue(self) -> None:
        now = time.monotonic()
        for deadline in [d for d in self._watched if d.at <= now]:
            self._watched.discard(deadline)
            deadline.fired = True
            if deadline.handle is not None:
                with suppress(OSError):  # the peer, or the call itself, was quicker
                    deadline.handle.shutdown(socket.SHUT_RDWR)


WATCHDOG = Watchdog()
# A forked child has none of its parent's threads, and perhaps its parent's lock, held: it begins anew.
os.register_at_fork(after_in_child=WATCHDOG.__init__)  # type: ignore[misc]
