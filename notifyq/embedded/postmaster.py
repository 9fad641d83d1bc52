"""Whether the server process that a cluster's pid file names is really there. A pid alone proves nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# A killed server may stay a zombie (where process 1 does not reap), and after a restart of the machine or container its
# pid may be anybody's; PostgreSQL takes both for a running server and refuses to start. No process can have this pid,
# so with it written in the file PostgreSQL sees that the server is gone, and still checks by the file's other lines
# that none of its old processes holds on to the data.
_NOBODY = 2**31 - 1


def runs_in(data: Path) -> bool:
    """Whether a live server process works in this data directory."""
    pid = _recorded_pid(data)
    if pid is None:
        return False
    if Path("/proc/self/cwd").exists():
        return _works_in(pid, data)
    return _looks_like_a_server(pid)


def disown_pid_file(data: Path) -> None:
    """Take the pid of a dead server out of the pid file. Only when `runs_in` denied it, with the start lock held."""
    path = data / "postmaster.pid"
    if _recorded_pid(data) is None:
        path.unlink(missing_ok=True)  # empty or cut short: PostgreSQL would refuse it
        return
    _, rest = path.read_text().split("\n", 1)
    with path.open("r+") as file:  # in place, so that its owner and mode stay
        file.write(f"{_NOBODY}\n{rest}")
        file.truncate()


def _recorded_pid(data: Path) -> int | None:
    try:
        return int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def _works_in(pid: int, data: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(data)  # a zombie has no working directory
    except OSError:
        return False


def _looks_like_a_server(pid: int) -> bool:
    listed = subprocess.run(  # noqa: S603 - macOS has no /proc
        ["/bin/ps", "-o", "stat=,comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return "postgres" in listed and not listed.lstrip().startswith("Z")
