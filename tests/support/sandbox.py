"""The sandbox provider, in a thread or as a process of its own, and a client that says what a test wants to know."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import requests

from tests.support.outage import simulated_vendor

ROOT = Path(__file__).resolve().parent.parent.parent
_ADDRESS = re.compile(r"http://\S+")
PATIENT_SECONDS = 20


class Sandbox:
    """Asks a sandbox provider at an address.

    Attributes:
        url: where it listens, without a slash at the end.
    """

    url = ""

    def post(self, recipient: str = "ada@example.org", *, key: str | None = None, **content: Any) -> requests.Response:
        """POST one message; the channel is told by the look of the recipient unless it is given."""
        looks = "SMS" if recipient.startswith("+") else "EMAIL" if "@" in recipient else "PUSH"
        timeout_seconds = content.pop("timeout_seconds", PATIENT_SECONDS)
        message = {"channel": looks, "recipient": recipient, "subject": "Hello", "body": "How are you?", **content}
        headers = {"Idempotency-Key": key or str(uuid4())}
        return requests.post(f"{self.url}/messages", json=message, headers=headers, timeout=timeout_seconds)

    def get(self, path: str) -> Any:
        return requests.get(self.url + path, timeout=PATIENT_SECONDS).json()

    def look_up(self, key: str) -> tuple[int, str | None]:
        answer = requests.get(f"{self.url}/messages", params={"key": key}, timeout=PATIENT_SECONDS)
        return answer.status_code, answer.json().get("status") if answer.ok else None

    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.get("/messages")["messages"]
        return messages

    def stats(self) -> tuple[int, int, int]:
        """Requests, accepted, repeats."""
        stats = self.get("/stats")
        return stats["requests"], stats["accepted"], stats["repeats"]

    def set_weather(self, **weather: Any) -> requests.Response:
        return requests.put(f"{self.url}/behaviour", json=weather, timeout=PATIENT_SECONDS)

    def empty(self) -> None:
        requests.delete(f"{self.url}/messages", timeout=PATIENT_SECONDS).raise_for_status()


class SandboxProcess(Sandbox):
    """`manage.py sandbox_provider` on a free port. `kill` and `start` again keep the port and the store."""

    def __init__(self, store: Path, *arguments: str, port: int = 0) -> None:
        self._arguments = arguments
        self._store = store
        self.port = port
        self.process: subprocess.Popen[str]

    def __enter__(self) -> SandboxProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()
        self._close()

    def start(self) -> None:
        """Returns when it listens."""
        self.process = run_command("--port", str(self.port), "--store", str(self._store), *self._arguments)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = _ADDRESS.search(line)
        if found is None:
            raise RuntimeError(f"the sandbox provider did not start: {line}{self.process.communicate()}")
        self.url = found[0]
        self.port = int(self.url.rpartition(":")[2])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; returns its exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENT_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENT_SECONDS)
        self._close()

    def _close(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def sandbox_here(store: Path) -> Iterator[Sandbox]:
    """One in a thread of this process, which is there at once; it serves until the block ends."""
    with simulated_vendor(store) as vendor:
        sandbox = Sandbox()
        sandbox.url = vendor.url
        yield sandbox


def run_command(*arguments: str) -> subprocess.Popen[str]:
    """The command with these arguments; its output is text on pipes."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "sandbox_provider", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
