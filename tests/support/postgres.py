"""A PostgreSQL server of a test's own, that the test may restart or kill."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psycopg

from notifyq.embedded.account import hand_over, run, server_account
from notifyq.embedded.binaries import find_binaries
from tests.support.workers import ROOT

SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "listen_addresses": "127.0.0.1",
}


class Postgres:
    """Listens on a free TCP port of the loopback address."""

    def __init__(self) -> None:
        self._home = Path(mkdtemp(prefix="nq-pg-", dir="/tmp"))  # short: a socket's path has at most 107 bytes
        self._account = server_account()
        hand_over(self._home, self._account)
        self._binaries = _binaries_on_path() or find_binaries(self._account, self._home)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync")
        lines = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self._home)}
        with (self._home / "data" / "postgresql.conf").open("a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in lines.items())
        self._run("pg_ctl", "-D", "data", "-l", "log", "-w", "start")

    def migrate(self) -> None:
        environment = {**os.environ, "DATABASE_URL": self.url, "SECRET_KEY": "for-tests-only"}
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True, timeout=60
        )

    def restart(self, mode: str) -> None:
        """Returns when it answers again; `immediate` is like a crash."""
        self._run("pg_ctl", "-D", "data", "-l", "log", "-m", mode, "-w", "restart")

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement, on a connection of its own."""
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def end(self) -> None:
        run([self._binaries / "pg_ctl", "-D", "data", "-m", "immediate", "stop"], self._account, self._home)
        shutil.rmtree(self._home, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        done = run([self._binaries / program, *arguments], self._account, self._home)
        assert done.returncode == 0, done.stdout


@contextmanager
def scratch_postgres() -> Iterator[Postgres]:
    """A server with the tables of the project."""
    server = Postgres()
    try:
        server.start()
        server.migrate()
        yield server
    finally:
        server.end()


def _binaries_on_path() -> Path | None:
    found = shutil.which("pg_ctl")
    directory = Path(found).resolve().parent if found else None
    return directory if directory and (directory / "initdb").exists() else None
