"""`manage.py dispatch_webhooks` as a real process: started, watched through its log, signalled, cleaned up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent
QUICK = {
    "NOTIFYQ_POLL_SECONDS": "0.2",
    "NOTIFYQ_WEBHOOK_TIMEOUT_SECONDS": "1",
    "NOTIFYQ_WEBHOOK_ALLOW_PRIVATE_ADDRESSES": "true",
    "NOTIFYQ_GRACE_SECONDS": "10",
}


def test_database_url() -> str:
    known = connection.settings_dict
    options = known.get("OPTIONS", {})
    host = quote(str(known["HOST"] or options.get("host", "")), safe="")
    port = known["PORT"] or options.get("port", "")
    password = f":{quote(known['PASSWORD'], safe='')}" if known["PASSWORD"] else ""
    place = f"host={host}" + (f"&port={port}" if port else "")
    return f"postgres://{quote(known['USER'] or '', safe='')}{password}@/{known['NAME']}?{place}"


test_database_url.__test__ = False  # type: ignore[attr-defined]


class DispatcherProcess:
    """Runs for the length of a `with` block, `--forever` unless told otherwise."""

    def __init__(self, directory: Path, *arguments: str, **environment: str) -> None:
        self._log = directory / f"dispatcher-{time.monotonic_ns()}.log"
        self._arguments = arguments or ("--forever",)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NOTIFYQ_")}
        ours = {
            "DATABASE_URL": test_database_url(),
            "SECRET_KEY": "for-tests-only",
            "NOTIFYQ_DATA_DIR": str(directory / "data"),
            "PROMETHEUS_MULTIPROC_DIR": str(directory / "metrics"),
        }
        self._environment = {**inherited, **QUICK, **ours, **environment}

    def __enter__(self) -> DispatcherProcess:
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "dispatch_webhooks", *self._arguments],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.wait_for_log("dispatcher_started")
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def events(self, name: str) -> list[dict[str, Any]]:
        found = []
        for line in self.log().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return [line for line in found if line.get("event") == name]

    def wait_for_log(self, event: str, seconds: float = 40.0) -> None:
        def there() -> bool:
            assert self.process.poll() is None or self.events(event), self.log()[-3000:]
            return bool(self.events(event))

        eventually(there, seconds, event)

    def kill(self) -> None:
        """SIGKILL, unless it has ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)

    def stop(self, seconds: float = 20.0) -> int:
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)


def eventually(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Look again and again until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)
