"""`manage.py sandbox_provider`: a vendor of one's own, so that nothing has to be sent to see it arrive."""

from __future__ import annotations

import signal
import socket
import sqlite3
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from notifyq.env import Environment
from notifyq.runtime.numerals import between
from notifyq.sandbox.reporter import Reporter
from notifyq.sandbox.server import SandboxServer
from notifyq.sandbox.store import Store
from notifyq.sandbox.vendor import Vendor


class Command(BaseCommand):
    help = "Run the simulated provider: a process of its own that stores what it accepts and shows it on a page."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        port = between(0, 65_535, "a port")
        parser.add_argument("--port", type=port, default=8026, help="default 8026; 0 takes any free one")
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on, default 127.0.0.1")
        parser.add_argument("--fd", type=int, help="serve on this inherited listening socket instead")
        parser.add_argument(
            "--receipts-url",
            help="where to report what it has delivered, such as http://127.0.0.1:8000/receipts/sandbox; signed with "
            "the first of NOTIFYQ_SANDBOX_RECEIPT_SECRETS",
        )
        parser.add_argument("--store", type=Path, help="SQLite file; default: one per port in the data directory")

    def handle(
        self,
        *,
        host: str,
        port: int,
        fd: int | None,
        store: Path | None,
        receipts_url: str | None,
        **_options: Any,
    ) -> None:
        reporter = _reporter(receipts_url)
        server = _listen(host, port) if fd is None else _take_over(fd)
        path = store or Path(settings.DATA_DIR) / f"sandbox-{server.server_address[1]}.sqlite3"
        with server:
            books = _open(path)
            if port == 0 and fd is None and store is None:
                # Nobody can come back to a port that was drawn, so what an earlier one left there is nobody's.
                with books.writing() as writing:
                    writing.empty()
                    writing.set_fact("weather", "{}")
            server.vendor = Vendor(books, reporter)
            self._serve(server, path)
            books.close()

    def _serve(self, server: SandboxServer, path: Path) -> None:
        ended = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        serving.start()
        self.stdout.write(f"Sandbox provider listening on {server.url} (store: {path})")
        self.stdout.flush()
        ended.wait()
        server.stop()


def _reporter(url: str | None) -> Reporter | None:
    if url is None:
        return None
    secrets = Environment().names("SANDBOX_RECEIPT_SECRETS")
    if not secrets:
        raise CommandError("NOTIFYQ_SANDBOX_RECEIPT_SECRETS is not set; the reports are signed with its first secret")
    return Reporter(url, secrets[0])


def _listen(host: str, port: int) -> SandboxServer:
    try:
        return SandboxServer(host, port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CommandError(f"Cannot listen on {host} port {port}: {reason}") from error


def _take_over(fd: int) -> SandboxServer:
    try:
        listening = socket.socket(fileno=fd)
        return SandboxServer(listening.getsockname()[0], 0, listening=listening)
    except OSError as error:
        raise CommandError(f"--fd {fd} is no socket to serve on: {error.strerror}") from error


def _open(path: Path) -> Store:
    try:
        return Store(path)
    except (OSError, sqlite3.Error) as error:
        raise CommandError(f"Cannot use {path} as the store: {error}") from error
