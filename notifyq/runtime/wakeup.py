"""Wake-up: tell idle workers that something is due, sooner than their next poll. Polling stays the authority.

A NOTIFY inside the writing transaction would make commits queue behind each other, so it goes out afterwards, over a
connection of its own, and many commits share one. If it is lost, nothing but time is.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from django.db import DatabaseError, close_old_connections, connection, transaction

log = logging.getLogger(__name__)

GAP_LEAST_SECONDS = 0.001
GAP_MOST_SECONDS = 0.05
"""The pause after each NOTIFY: it doubles while commits keep coming, so that a busy producer pays next to nothing."""


class Notifier:
    """Sends `NOTIFY channel` soon after `ring`, many rings as one. One per process and channel."""

    def __init__(self, channel: str) -> None:
        self._channel = channel
        self._forget_thread()
        os.register_at_fork(after_in_child=self._forget_thread)

    def _forget_thread(self) -> None:
        """A forked child has none of its parent's threads, and perhaps a lock that one of them held."""
        self._rung = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._gap_seconds = GAP_LEAST_SECONDS

    def ring(self) -> None:
        """Ask for a NOTIFY. Returns at once and never raises."""
        self._rung.set()
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=f"notify-{self._channel}", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            if not self._rung.wait(timeout=30):
                connection.close()  # a thread that ends would leave it open until it is collected
                return
            self._rung.clear()
            self._send()
            time.sleep(self._gap_seconds)
            busy = self._rung.is_set()
            self._gap_seconds = min(GAP_MOST_SECONDS, self._gap_seconds * 2) if busy else GAP_LEAST_SECONDS

    def _send(self) -> None:
        try:
            close_old_connections()
            notify(self._channel)
        except DatabaseError:
            connection.close()
            log.info("wakeup_not_sent", extra={"channel": self._channel})


QUEUE_CHANNEL = "notifyq_due"
_notifier = Notifier(QUEUE_CHANNEL)


def ring_after_commit() -> None:
    """Wake the workers once the present transaction has committed (at once when there is none)."""
    transaction.on_commit(_notifier.ring, robust=True)


def notify_after_commit() -> None:
    """The same without a thread, on this connection: for what is rare, and for processes that fork."""
    transaction.on_commit(lambda: notify(QUEUE_CHANNEL), robust=True)


def notify(channel: str, payload: str = "") -> None:
    """Send one notification now.

    Raises:
        DatabaseError: the database is away.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [channel, payload])


class Listener:
    """Waits for `NOTIFY channel` on a connection of its own and calls `on_wake`.

    It proves that notifications arrive by sending itself one, again and again: behind a transaction pooler, or on a
    connection that died unnoticed, the probe does not come back, and the listener says so and tries anew later.
    """

    PROBE_SECONDS = 5.0
    RETRY_SECONDS = 30.0

    def __init__(self, channel: str, on_wake: Callable[[], None]) -> None:
        self._channel = channel
        self._on_wake = on_wake
        self._stop = threading.Event()
        self._told = False
        self._thread = threading.Thread(target=self._run, name=f"listen-{channel}", daemon=True)
        self.working = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it does so within a second."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._listen()
            except DatabaseError:
                self._stop.wait(0.5)
            except Exception:  # top of the loop: workers would be slow to wake from here on, and nobody would know
                log.exception("wakeup_failed", extra={"channel": self._channel})
                self._stop.wait(5.0)
            finally:
                self.working = False
                connection.close()
        connection.close()

    def _listen(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {connection.ops.quote_name(self._channel)}")
        self._on_wake()  # what was committed before we listened
        while self._probe():
            self._tell(working=True)
        if not self._stop.is_set():
            self._give_up_for_a_while()

    def _probe(self) -> bool:
        """Listen for a while; then whether a notification of our own came back."""
        probe = f"probe {threading.get_ident()}"
        raw = connection.connection
        deadline = time.monotonic() + self.PROBE_SECONDS
        while not self._stop.is_set() and time.monotonic() < deadline:
            self._receive(raw, timeout_seconds=0.5)
        notify(self._channel, probe)
        return not self._stop.is_set() and self._comes_back(raw, probe)

    def _comes_back(self, raw, probe: str) -> bool:  # type: ignore[no-untyped-def]
        deadline = time.monotonic() + 2.0
        while (left := deadline - time.monotonic()) > 0:
            if probe in self._receive(raw, timeout_seconds=left):
                return True
        return False

    def _receive(self, raw, timeout_seconds: float) -> set[str]:  # type: ignore[no-untyped-def]
        with connection.wrap_database_errors:
            payloads = {n.payload for n in raw.notifies(timeout=timeout_seconds, stop_after=1)}
        if "" in payloads:
            self._on_wake()
        return payloads

    def _give_up_for_a_while(self) -> None:
        self._tell(working=False)
        connection.close()
        self._stop.wait(self.RETRY_SECONDS)

    def _tell(self, *, working: bool) -> None:
        if working != self.working or not self._told:
            log.info("wakeup_on" if working else "wakeup_off_polling_only", extra={"channel": self._channel})
        self.working, self._told = working, True
