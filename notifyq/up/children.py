"""The processes of the service: started with their output in files, watched, and stopped in order."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from notifyq.up.guard import Guard

_KILL_WAIT_SECONDS = 5
_LAST_LINES = 12
_LOOK_SECONDS = 0.05


@dataclass(slots=True)
class Child:
    """One process with a session of its own, so that a Ctrl-C in the terminal reaches it through us and in order."""

    name: str
    essential: bool
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def fate(self) -> str:
        code = self.process.returncode
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def last_lines(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()[-_LAST_LINES:]

    def ask_to_end(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and what it started and left behind."""
        self._signal(signal.SIGKILL, whole_group=True)
        self.process.wait(_KILL_WAIT_SECONDS)

    def _signal(self, number: signal.Signals, *, whole_group: bool = False) -> None:
        try:
            if whole_group:
                os.killpg(self.process.pid, number)
            elif not self.has_ended:
                self.process.send_signal(number)
        except ProcessLookupError:
            pass


class Children:
    """All child processes, in the order of their start.

    Args:
        root: the directory of manage.py, where they run.
        logs: directory for their output, a file each, begun anew at every start; the one before is kept.
        guard: ends them should we be killed.
    """

    def __init__(self, root: Path, logs: Path, guard: Guard) -> None:
        self._root = root
        self._logs = logs
        self._guard = guard
        self._all: list[Child] = []
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)

    def start(
        self,
        name: str,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        *,
        essential: bool = True,
        listening: socket.socket | None = None,
    ) -> Child:
        """Start Python with these arguments and add `variables` to its environment.

        Args:
            listening: handed over under the same number; ours is to be closed, else nobody would notice its end.
        """
        log = self._logs / f"{name}.log"
        put_aside(log)
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - the commands are our own
                [sys.executable, *arguments],
                cwd=self._root,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=() if listening is None else (listening.fileno(),),
            )
        self._guard.watch(process.pid)
        child = Child(name, essential, process, log)
        self._all.append(child)
        return child

    @property
    def any(self) -> bool:
        return bool(self._all)

    def take_ended(self) -> list[Child]:
        """Those that ended since the last call; they are watched no longer."""
        ended = [child for child in self._all if child.has_ended]
        self._all = [child for child in self._all if child not in ended]
        for child in ended:
            child.kill()  # what it left behind in its group
            self._guard.forget(child.process.pid)
        return ended

    def stop(self, grace_seconds: float, hurry: Event) -> list[str]:
        """End all, the last started first, each after the one before has ended.

        Args:
            grace_seconds: how long each may take before it is killed; at once when `hurry` is set meanwhile.

        Returns:
            The names of those that had to be killed.
        """
        killed = []
        for child in reversed(self._all):
            child.ask_to_end()
            if not _wait(child, grace_seconds, hurry):
                killed.append(child.name)
            child.kill()
            self._guard.forget(child.process.pid)
        self._all.clear()
        return killed


def _wait(child: Child, seconds: float, hurry: Event) -> bool:
    deadline = time.monotonic() + seconds
    while not child.has_ended:
        if time.monotonic() > deadline or hurry.wait(_LOOK_SECONDS):
            return child.has_ended
    return True


def put_aside(log: Path) -> None:
    """Keep what the process wrote before this start: what made somebody start it anew mostly stands there."""
    try:
        if log.stat().st_size:
            log.replace(log.with_name(f"{log.name}.1"))
    except FileNotFoundError:
        pass
