"""A database for the length of a measurement."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from django.db import connection
from psycopg import sql

from notifyq.env import Environment

PREFIX = "notifyq_bench_"


class NoScratchDatabase(Exception):
    """The server does not let us make one; the text says what to do."""


@contextmanager
def scratch_database() -> Iterator[str]:
    """An empty database on the configured server, dropped at the end with whoever is still connected to it.

    Returns:
        Its name.

    Raises:
        NoScratchDatabase: the database user may not create one, or the server is away.
    """
    name = sql.Identifier(PREFIX + secrets.token_hex(4))
    try:
        with _server() as server:
            server.execute(sql.SQL("CREATE DATABASE {}").format(name))
    except psycopg.errors.InsufficientPrivilege:
        raise NoScratchDatabase("The database user may not create databases. Grant it CREATEDB for the time.") from None
    except psycopg.Error:
        raise NoScratchDatabase(
            "No database could be created. Is the server up, and reached without a pooler?"
        ) from None
    try:
        yield name.as_string().strip('"')
    finally:
        with _server() as server:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def run_on(database: str, arguments: Sequence[str]) -> int:
    """Run `python -m notifyq.bench` with these arguments on that database; its exit code."""
    url = Environment(prefix="").text("DATABASE_URL")
    with tempfile.TemporaryDirectory(prefix="notifyq-bench-") as directory:
        environment = {
            **os.environ,
            "DATABASE_URL": urlsplit(url)._replace(path=f"/{database}").geturl(),
            "PROMETHEUS_MULTIPROC_DIR": directory,
            "DEBUG": "false",
        }
        command = [sys.executable, "-m", "notifyq.bench", *arguments]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 (our own module)


def _server() -> psycopg.Connection[tuple[object, ...]]:
    # Django's own parameters, so that whatever reaches the real database reaches the scratch one.
    ours = {"cursor_factory", "context"}
    parameters = {k: v for k, v in connection.get_connection_params().items() if k not in ours}
    return psycopg.connect(**parameters, autocommit=True)
