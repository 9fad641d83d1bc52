"""Processes that use an embedded server, for tests that end them in every possible way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from psycopg.pq import PGconn, Ping

ROOT = Path(__file__).resolve().parents[2]

_USER = """
import sys
from pathlib import Path
from notifyq.embedded import join
from notifyq.startup import exit_on_sigterm
exit_on_sigterm()
settings = {"fsync": "off", "max_connections": "20", "shared_buffers": "16MB"}
print(join(Path(sys.argv[1]), settings), flush=True)
sys.stdin.read()
"""


class User:
    """A process that joined the server of a data directory and stays until told otherwise."""

    def __init__(self, data_dir: Path, code: str = _USER, python: str = sys.executable, **options: Any) -> None:
        self.process: subprocess.Popen[str] = subprocess.Popen(
            [python, "-c", code, str(data_dir)],
            cwd=ROOT,
            env=clean_environment() | options.pop("env", {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def joined(self) -> str:
        """Wait until it has joined; the DATABASE_URL it got."""
        assert self.process.stdout is not None
        url: str = self.process.stdout.readline().strip()
        assert url, self.process.communicate()[1]
        return url

    def finish(self) -> None:
        """Let it end by itself."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None  # or communicate() below would flush it
        self._ended()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self._ended()

    def _ended(self) -> None:
        self.process.communicate(timeout=60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self._ended()


def clean_environment() -> dict[str, str]:
    """Our environment without what would decide about the database, or who is sent to."""
    decisive = ("DATABASE_URL", "EMBEDDED_DIR", "DATA_DIR", "SANDBOX_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
    return {name: value for name, value in os.environ.items() if name.removeprefix("NOTIFYQ_") not in decisive}


def answers(url: str) -> bool:
    """Whether a server answers at this address."""
    return Ping(PGconn.ping(url.encode())) is Ping.OK


def server_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "data" / "postmaster.pid").read_text().split("\n", 1)[0])


def remove(data_dir: Path) -> None:
    """Stop whatever a test left running and delete it, also what lies outside `data_dir`."""
    user = User(data_dir)
    user.joined()
    user.finish()
    subprocess.run(
        [sys.executable, "-c", "import sys; from pathlib import Path; from notifyq.embedded.home import remove_home;"
         "remove_home(Path(sys.argv[1]))", str(data_dir)],
        cwd=ROOT,
        check=True,
    )  # fmt: skip
    shutil.rmtree(data_dir)
