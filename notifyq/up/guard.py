"""Ends the children of an `up` that was killed: a process of its own, which sees `up` go by the end of a pipe.

`up` tells it through the pipe which children there are. The kernel closes the pipe when `up` ends, whatever ended it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

_END_SECONDS = 5
_LOOK_SECONDS = 0.1


class Guard:
    """The end of the pipe that `up` holds.

    Args:
        root: the directory of manage.py.
        grace_seconds: how long the children may take to end before they are killed.
    """

    def __init__(self, root: Path, grace_seconds: float) -> None:
        self._root = root
        self._grace_seconds = grace_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, lock: int) -> None:
        """Start the guard, which also keeps the file lock `lock`: no second set of children beside the first."""
        self._process = subprocess.Popen(  # noqa: S603 - the command is our own
            [sys.executable, "-m", __name__, str(self._grace_seconds)],
            cwd=self._root,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[lock],
            start_new_session=True,
        )

    def watch(self, pid: int) -> None:
        """Take charge of the leader of a process group."""
        self._tell(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """It has ended, and its pid may soon be anybody's."""
        self._tell(f"-{pid}\n")

    def stop(self) -> None:
        """End the guard, and with it whatever was not forgotten."""
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(self._grace_seconds + _END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):  # somebody killed the guard: no reason to fail
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


def read_pids(lines: Iterable[str]) -> set[int]:
    """Who is left at the end of what `up` told."""
    pids: set[int] = set()
    for line in lines:
        sign, pid = line[:1], line[1:].strip()
        if not pid.isdecimal():
            continue  # cut short in the middle of a line
        (pids.add if sign == "+" else pids.discard)(int(pid))
    return pids


def end(pids: set[int], grace_seconds: float) -> None:
    """SIGTERM to each; SIGKILL to the groups of those that are still there after the grace period."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while any(map(_exists, pids)) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    end(read_pids(sys.stdin), float(sys.argv[1]))
