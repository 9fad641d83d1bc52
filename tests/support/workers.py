"""`manage.py run_workers` as real processes: started, watched through their log, stopped, killed, cleaned up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.db import connection

from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 30.0
MARK = "NOTIFYQ_TEST_MARK"

QUICK = {
    "NOTIFYQ_POLL_SECONDS": "0.2",
    "NOTIFYQ_LEASE_SECONDS": "30",
    "NOTIFYQ_SEND_TIMEOUT_SECONDS": "2",
    "NOTIFYQ_BACKOFF_BASE_SECONDS": "0.05",
    "NOTIFYQ_BACKOFF_MAX_SECONDS": "0.2",
    "NOTIFYQ_GRACE_SECONDS": "10",
    "NOTIFYQ_RATE_LIMIT_COUNT": "0",
    "NOTIFYQ_BREAKER_FAILURES": "1000",
}


def database_url(name: str | None = None) -> str:
    """The address of this test's database, for processes of their own."""
    known = connection.settings_dict
    options = known.get("OPTIONS", {})
    host, port = known["HOST"] or options.get("host", ""), known["PORT"] or options.get("port", "")
    login = quote(known["USER"] or "", safe="")
    if known["PASSWORD"]:
        login += ":" + quote(known["PASSWORD"], safe="")
    place = f"host={quote(str(host), safe='')}" + (f"&port={port}" if port else "")
    return f"postgres://{login}@/{name or known['NAME']}?{place}"


class Workers:
    """One supervisor with its children. Every process it starts carries a mark in its environment, so that all of
    them are found again, orphans too."""

    def __init__(self, directory: Path, arguments: Iterable[str], environment: dict[str, str]) -> None:
        self._mark = uuid4().hex
        self._log = directory / f"workers-{self._mark}.log"
        ours = {
            MARK: self._mark,
            "DATABASE_URL": database_url(),
            "SECRET_KEY": "for-tests-only",
            "NOTIFYQ_DATA_DIR": str(directory / "data"),
            "PROMETHEUS_MULTIPROC_DIR": str(directory / f"metrics-{self._mark}"),
        }
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NOTIFYQ_")}
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run_workers", *arguments],
                cwd=ROOT,
                env={**inherited, **QUICK, **ours, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log lines of that name, in order."""
        found = []
        for line in self.log().splitlines():
            with contextlib.suppress(ValueError):
                fields = json.loads(line)
                if isinstance(fields, dict) and fields.get("event") == name:
                    found.append(fields)
        return found

    def wait_for(self, event: str, count: int = 1, seconds: float = START_SECONDS) -> list[dict[str, Any]]:
        """Wait until the log has at least `count` lines of that name."""

        def enough() -> list[dict[str, Any]]:
            found = self.events(event)
            assert self.process.poll() is None or len(found) >= count, f"it ended early:\n{self.log()[-4000:]}"
            return found if len(found) >= count else []

        return wait_until(enough, seconds, f"{count} lines {event!r} in the log")

    def child_pids(self) -> list[int]:
        """The living children of the supervisor."""
        with contextlib.suppress(OSError):
            listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
            return [pid for pid in map(int, listed.split()) if is_running(pid)]
        return []

    def child_with_role(self, role: str) -> int:
        """The living child of that role (`delivery` or `quarantine`), by its row in the database."""
        from notifications.models import Worker

        rows = Worker.objects.filter(role=role, pid__in=self.child_pids())
        return rows.values_list("pid", flat=True).get()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, seconds: float = 30.0) -> int:
        """Wait until the supervisor has ended; returns its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {seconds:g} s:\n{self.log()[-4000:]}") from None

    def stop(self, seconds: float = 30.0) -> int:
        """End it in good order; returns its exit code."""
        self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill_whole(self) -> None:
        """SIGKILL to the supervisor and all its children, as when a machine dies."""
        pids = self.pids()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)
        wait_until(lambda: not self.pids(), 10, "the killed processes are gone")

    def pids(self) -> list[int]:
        """Every living process of it, whoever its parent is now."""
        return [pid for pid in _all_pids() if _has_mark(pid, self._mark) and is_running(pid)]


class Fleet:
    """All the workers of one test."""

    def __init__(self, directory: Path, **environment: str) -> None:
        self._directory = directory
        self._environment = environment
        self._started: list[Workers] = []

    def start(self, *arguments: str, ready: int | None = None, **environment: str) -> Workers:
        """Start one `run_workers`; returns when `ready` of its children work (0: at once).

        Args:
            environment: settings with their full names.
        """
        workers = Workers(self._directory, arguments, {**self._environment, **environment})
        self._started.append(workers)
        if ready is None:
            ready = int(arguments[arguments.index("--processes") + 1]) + 1 if "--processes" in arguments else 2
        if ready:
            workers.wait_for("worker_started", ready)
        return workers

    def end(self) -> None:
        """Leave nothing running, whatever happened."""
        for workers in self._started:
            workers.kill_whole()


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_stopped(pid: int) -> bool:
    """Whether SIGSTOP has taken effect."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def _all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
