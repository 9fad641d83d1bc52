"""Two callers of the queue at once, on connections of their own, in an order that is proved and not slept for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from tests.support.waiting import wait_until

PATIENT_SECONDS = 60.0
RACE_SECONDS = 100.0
"""For hundreds of races in a row on a busy machine."""


class Rival:
    """Runs `act` in a thread with a connection of its own."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._act = act
        self._pid: int | None = None
        self._result: Any = None
        self._error: BaseException | None = None
        self._connected = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Rival:
        self._thread.start()
        assert self._connected.wait(PATIENT_SECONDS)
        return self

    def wait_until_blocked_by_me(self) -> Rival:
        """Returns once PostgreSQL says that the rival waits for the calling thread's transaction."""
        mine = backend_pid()
        wait_until(lambda: mine in _blockers_of(self._pid), PATIENT_SECONDS, "the rival waits for this transaction")
        return self

    def result(self, seconds: float = PATIENT_SECONDS) -> Any:
        """What `act` returned, once it has; its exception is raised here."""
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the rival still waits"
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self) -> None:
        try:
            self._pid = backend_pid()
            self._connected.set()
            self._result = self._act()
        except BaseException as error:  # noqa: BLE001 (raised again by `result`)
            self._error = error
        finally:
            self._connected.set()
            connection.close()


def backend_pid() -> int:
    """The server process behind this thread's connection."""
    connection.ensure_connection()
    return int(connection.connection.info.backend_pid)


def run_together(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run all acts at once, each on a connection of its own, released by a barrier; their results in order."""
    barrier = threading.Barrier(len(acts))

    def behind_barrier(act: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            barrier.wait(PATIENT_SECONDS)
            return act()

        return run

    rivals = [Rival(behind_barrier(act)) for act in acts]
    for rival in rivals:
        rival.start()
    return [rival.result(RACE_SECONDS) for rival in rivals]


def _blockers_of(pid: int | None) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_blocking_pids(%s)", [pid])
        return list(cursor.fetchone()[0])
