"""The parent of the worker processes: it starts them, replaces those that die, and takes back what they held.

It holds no threads and, while it forks, no database connection.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

from django.db import connections

from notifications import metrics, queue
from notifications.delivery.health import Health
from notifications.delivery.terms import out_of_service
from notifications.delivery.upkeep import Upkeep
from notifications.delivery.worker import Role, Worker, WorkerOptions, new_worker_id
from notifications.providers.chains import Chains, close
from notifyq.leasing.claim import STATEMENT_TIMEOUT_SECONDS
from notifyq.runtime.clock import elapsed
from notifyq.runtime.loop import Rounds
from notifyq.runtime.memory import spare_what_is_loaded
from notifyq.runtime.metrics import forget_dead_processes

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
RESTART_WAIT_SECONDS = 0.1
RESTART_MOST_WAIT_SECONDS = 5.0
KILL_AFTER_SECONDS = 5.0
"""After the grace period a child that still lives is killed; leases do the rest."""

LATE_SECONDS = STATEMENT_TIMEOUT_SECONDS + 5.0
"""For so long after the death of a child the server may still commit what it had asked for."""


@dataclass(slots=True)
class _Child:
    worker_id: str
    options: WorkerOptions
    failures: int


class Supervisor:
    """Runs `process_count` delivery processes and one quarantine process until SIGTERM or SIGINT.

    Args:
        make_chains: builds the providers; called in each child, so that no connection is shared over a fork.
    """

    def __init__(self, options: WorkerOptions, process_count: int, make_chains: Callable[[], Chains]) -> None:
        quarantine = replace(options, role=Role.QUARANTINE, seat_count=1, batch_size=1)
        self._plan = [*[options] * process_count, quarantine]
        self._options = options
        self._make_chains = make_chains
        self._chains = make_chains()
        self._upkeep = Upkeep(self._chains, options.poll_seconds, options.rate_limit, options.aging_seconds)
        self._children: dict[int, _Child] = {}
        self._to_start: list[tuple[float, WorkerOptions, int]] = []
        self._dead: list[_Child] = []
        self._gone: dict[str, float] = {}
        self._signals = 0
        self._unclean = False
        self._rounds = Rounds("supervisor", threading.Event(), metrics.record_round_error)

    def run(self) -> int:
        """Returns the exit code: 0 when everything that was held has been settled or given back."""
        self._listen_for_signals()
        self._to_start = [(0.0, options, 0) for options in self._plan]
        while not self._signals and (self._children or self._to_start):
            self._start_due()
            self._sleep(0.0 if self._is_due_to_start() else 0.5 if self._children else 0.05)
            self._reap()
            self._take_back_from_dead()
            self._take_back_late()
            if self._options.drain:
                self._start_again_while_due()
        self._stop_all()
        return 1 if self._unclean else 0

    def _listen_for_signals(self) -> None:
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        os.set_blocking(self._wake_read, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_stop_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only to wake us

    def _on_stop_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _sleep(self, seconds: float) -> None:
        if select.select([self._wake_read], [], [], seconds)[0]:
            os.read(self._wake_read, 4096)

    def _is_due_to_start(self) -> bool:
        return any(at <= elapsed() for at, _, _ in self._to_start)

    def _start_due(self) -> None:
        now = elapsed()
        due = [entry for entry in self._to_start if entry[0] <= now]
        self._to_start = [entry for entry in self._to_start if entry[0] > now]
        for _, options, failures in due:
            try:
                self._fork(options, failures)
            except OSError as error:  # too many processes, or no memory: perhaps only for now
                log.error("worker_not_started", extra={"error": error.strerror})  # noqa: TRY400 (says it all)
                self._to_start.append((now + RESTART_MOST_WAIT_SECONDS, options, failures + 1))

    def _fork(self, options: WorkerOptions, failures: int) -> None:
        connections.close_all()
        worker_id = f"{new_worker_id(options.role)}"
        supervisor_pid = os.getpid()
        with _stop_signals_held_back():
            pid = os.fork()
            if pid == 0:
                _be_a_child(worker_id, options, self._make_chains, supervisor_pid, (self._wake_read, self._wake_write))
            self._children[pid] = _Child(worker_id, options, failures)

    def _reap(self) -> None:
        while self._children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if child := self._children.pop(pid, None):
                self._ended(child, os.waitstatus_to_exitcode(status))

    def _ended(self, child: _Child, exit_code: int) -> None:
        forget_dead_processes()
        if exit_code != 0:
            log.error("worker_died", extra={"worker_id": child.worker_id, "exit_code": exit_code})
            self._dead.append(child)
            self._unclean = self._unclean or bool(self._signals)
        elif not (self._options.drain or self._signals):  # somebody stopped this one alone; it holds nothing
            self._to_start.append((elapsed() + RESTART_WAIT_SECONDS, child.options, 0))

    def _take_back_from_dead(self) -> None:
        """What a dead child held is taken back at once, without waiting for its lease; then another takes its place."""
        while self._dead and self._rounds.run(lambda: self._replace(self._dead[0])) is not None:
            self._dead.pop(0)

    def _replace(self, dead: _Child) -> int:
        """Returns how many notifications were taken back from it.

        Raises:
            DatabaseError: some may have been; a repeat is safe.
        """
        rescued = 0
        while count := len(self._upkeep.rescue([dead.worker_id])):
            rescued += count
        queue.leave(dead.worker_id)
        self._gone[dead.worker_id] = elapsed() + LATE_SECONDS
        # What it held when it died is bounded by attempts, so the next one may start at once. One that dies with
        # nothing in hand has some other trouble, which haste would only repeat.
        failures = 0 if rescued else dead.failures + 1
        wait = min(RESTART_MOST_WAIT_SECONDS, RESTART_WAIT_SECONDS * 2.0 ** min(failures, 10)) if failures else 0.0
        if not self._signals:
            self._to_start.append((elapsed() + wait, dead.options, failures))
        return rescued

    def _take_back_late(self) -> None:
        """A claim whose commit was on its way when its child died becomes visible only afterwards."""
        if self._gone and self._rounds.run(lambda: len(self._upkeep.rescue(list(self._gone)))) is not None:
            self._gone = {worker_id: until for worker_id, until in self._gone.items() if elapsed() < until}

    def _start_again_while_due(self) -> None:
        """Draining is over only when nothing is due for any of the processes."""
        if self._children or self._to_start:
            return
        due = self._rounds.run(lambda: [options for options in self._plan if _is_due(options, self._chains)])
        self._to_start = [(0.0, options, 0) for options in (self._plan if due is None else due)]

    def _stop_all(self) -> None:
        self._signal_children(signal.SIGTERM)
        until = elapsed() + self._options.grace_seconds + KILL_AFTER_SECONDS
        while self._children and elapsed() < until and self._signals < 2:
            self._sleep(0.2)
            self._reap()
        self._signal_children(signal.SIGKILL)
        while self._children:
            self._reap()
            time.sleep(0.01)  # a killed child is gone at once; there is no event to wait for without more signals
        self._take_back_from_dead()

    def _signal_children(self, number: signal.Signals) -> None:
        for pid in self._children:
            os.kill(pid, number)  # not reaped yet, so the pid is still theirs


@contextmanager
def _stop_signals_held_back() -> Iterator[None]:
    """A child inherits the block and keeps it (see `_stop_when_told`), so that a SIGTERM that comes before it listens
    waits for it. The handler of its parent, which it inherits too, would swallow it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def _stop_when_told(worker: Worker) -> None:
    """In a thread of its own, since a handler would run in the middle of whatever the main thread does: when that is
    just inside one of the events that `stop` sets, both would wait for ever."""
    while True:
        signal.sigwait({signal.SIGTERM})
        worker.stop()


def _is_due(options: WorkerOptions, chains: Chains) -> bool:
    """Whether there is something due that can be sent."""
    health = Health(options.breaker_rules)
    health.refresh()
    out = out_of_service(chains, health)
    served = [channel for channel in options.channels or chains if channel not in out]
    if not served:
        return False
    waiting = queue.next_due_in_seconds(
        channels=served if out else options.channels, suspects=options.role is Role.QUARANTINE
    )
    return waiting is not None and waiting <= 0


def _be_a_child(
    worker_id: str,
    options: WorkerOptions,
    make_chains: Callable[[], Chains],
    supervisor_pid: int,
    inherited: Sequence[int],
) -> None:
    """Never returns: it leaves without running what the parent has registered for its own end."""
    exit_code = 1
    try:
        signal.set_wakeup_fd(-1)
        for descriptor in inherited:
            os.close(descriptor)
        os.setpgid(0, 0)  # a Ctrl-C in the terminal goes to the supervisor alone, which then stops us in order
        chains = make_chains()
        worker = Worker(worker_id, options, chains, is_orphan=lambda: os.getppid() != supervisor_pid)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        threading.Thread(target=_stop_when_told, args=(worker,), name="stop", daemon=True).start()
        spare_what_is_loaded()
        exit_code = 0 if worker.run() else 3
        close(chains)
    except BaseException:
        log.exception("worker_failed", extra={"worker_id": worker_id})
    finally:
        logging.shutdown()
        os._exit(exit_code)
