"""One PostgreSQL cluster on disk and its server: create, start, stop, and clear up after a killed one."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from psycopg.pq import PGconn, Ping

from notifications.errors import ConfigurationError
from notifyq.embedded.account import Account, run
from notifyq.embedded.binaries import find_binaries
from notifyq.embedded.home import kept_secret, open_home, socket_directory, write_private
from notifyq.embedded.postmaster import disown_pid_file, runs_in

DATABASE = "notifyq"
SETTINGS: Mapping[str, str] = {
    "max_connections": "200",
    "shared_buffers": "128MB",
    "jit": "off",  # the statements are short: compiling one costs more than running it
    "log_timezone": "UTC",
    "timezone": "UTC",
}
_PORT = 5432  # part of the socket's name; said everywhere, as a PGPORT would change the clients' default
_START_SECONDS = 60
_STOP_SECONDS = 30
_LOG_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Cluster:
    """`home` holds `data`, `password`, `log` and `socket_directory`. Programs run in it, with relative paths."""

    home: Path
    sockets: Path
    account: Account | None
    password: str

    @classmethod
    def open(cls, data_dir: Path) -> Cluster:
        """The cluster of a data directory; its places and password are made if they are missing."""
        home, account = open_home(data_dir)
        password = kept_secret(home / "password", account=account)
        return cls(home, socket_directory(home, account), account, password)

    @property
    def url(self) -> str:
        return database_url(self.password, self.sockets)

    def ensure_running(self, settings: Mapping[str, str]) -> None:
        """Create and start what is missing. Running means: it answers. Call with the start lock held; repeatable.

        Args:
            settings: lines for postgresql.conf besides `SETTINGS`; those of a server that runs already stay.

        Raises:
            ConfigurationError: it could not be started; one line that says where its log is.
        """
        if self._settled_state() is Ping.OK:
            return
        try:
            if not (self.home / "data").is_dir():
                self._create(settings)
            self._clear_the_way()
            self._start({**SETTINGS, **settings})
        except subprocess.TimeoutExpired:
            raise ConfigurationError(
                f"the embedded PostgreSQL took too long to start; see {self.home / 'log'}"
            ) from None

    def stop(self) -> None:
        """Stop the server, if it runs; open connections are ended. Call with the start lock held; repeatable."""
        for mode in ("fast", "immediate"):
            try:
                done = self._program("pg_ctl", "-D", "data", "-m", mode, "-w", "-t", str(_STOP_SECONDS), "stop")
            except subprocess.TimeoutExpired:
                continue
            if done.returncode == 0 or self._state() is Ping.NO_RESPONSE:
                return

    def _state(self) -> Ping:
        return Ping(PGconn.ping(f"{self.url}&connect_timeout=5".encode()))

    def _settled_state(self) -> Ping:
        """The state once the server is neither starting up nor shutting down."""
        deadline = time.monotonic() + _START_SECONDS
        while (state := self._state()) is Ping.REJECT and time.monotonic() < deadline:
            time.sleep(0.05)
        return state

    def _create(self, settings: Mapping[str, str]) -> None:
        """Build the cluster beside its place and rename it, so that a killed creation leaves nothing half done."""
        scratch = self.home / "data.new"
        shutil.rmtree(scratch, ignore_errors=True)
        sync = ["--no-sync"] if settings.get("fsync") == "off" else []
        self._check(
            self._program(
                *("initdb", "-D", scratch.name, "-U", "postgres", "--encoding=UTF8", "--locale=C", "--no-instructions"),
                *("--auth=scram-sha-256", "--pwfile=password", *sync),
            )
        )
        with (scratch / "postgresql.conf").open("a") as conf:
            conf.write("\ninclude_if_exists = 'notifyq.conf'  # written at every start\n")
        self._check(
            self._program("postgres", "--single", "-D", scratch.name, "postgres", stdin=f"CREATE DATABASE {DATABASE}\n")
        )
        scratch.rename(self.home / "data")

    def _clear_the_way(self) -> None:
        """Nobody answers: stop a server that lost its socket, or drop what a killed one left behind."""
        data = self.home / "data"
        if runs_in(data):
            self.stop()
        disown_pid_file(data)
        for leftover in self.sockets.glob(".s.PGSQL.*"):
            leftover.unlink()

    def _start(self, settings: Mapping[str, str]) -> None:
        lines = {**settings, "listen_addresses": "", "port": str(_PORT), "unix_socket_directories": str(self.sockets)}
        conf = "".join(f"{name} = '{value}'\n" for name, value in lines.items())
        write_private(self.home / "data" / "notifyq.conf", conf, self.account)
        log = self.home / "log"
        if log.is_file() and log.stat().st_size > _LOG_BYTES:
            log.replace(self.home / "log.old")
        started = self._program("pg_ctl", "-D", "data", "-l", "log", "-w", "-t", str(_START_SECONDS), "start")
        if started.returncode != 0 or self._settled_state() is not Ping.OK:
            raise ConfigurationError(
                f"the embedded PostgreSQL did not start ({_last_fatal_line(log)}); its log is {log}"
            )

    def _program(self, name: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        binaries = find_binaries(self.account, self.home)
        return run([binaries / name, *arguments], self.account, self.home, stdin=stdin)

    def _check(self, done: subprocess.CompletedProcess[str]) -> None:
        if done.returncode != 0:
            last = (done.stdout.strip().splitlines() or ["no output"])[-1]
            raise ConfigurationError(f"the embedded PostgreSQL could not be created in {self.home}: {last}")


def database_url(password: str, sockets: Path) -> str:
    secret, host = quote(password, safe=""), quote(str(sockets), safe="")
    return f"postgres://postgres:{secret}@/{DATABASE}?host={host}&port={_PORT}"


def _last_fatal_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-50:] if log.is_file() else []
    fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
    return (fatal or lines or ["no log"])[-1].strip()
