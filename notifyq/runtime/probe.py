"""A look at the database that cannot hang: for health checks and metrics, which must answer when it does not."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from django.db import connection

from notifyq.runtime.index_order import IN_INDEX_ORDER

CONNECT_SECONDS = 2
"""For each address of the database; psycopg takes whole seconds, and no fewer than 2."""

# LOCAL, and no start-up option: this also works through a transaction pooler.
_SETTINGS = f"SELECT set_config('statement_timeout', %s, true), {IN_INDEX_ORDER}"


class Probe:
    """Runs single read-only statements, each under a timeout of the server's, all of them before one deadline."""

    def __init__(self, raw: psycopg.Connection[Any], deadline: float) -> None:
        self._raw = raw
        self._deadline = deadline

    def rows(self, sql: str, values: Mapping[str, object] | None = None, *, seconds: float) -> Sequence[Sequence[Any]]:
        """The rows of one statement.

        Raises:
            psycopg.Error: it failed, or took longer than `seconds` or than the probe has left.
        """
        left = min(seconds, self._deadline - time.monotonic())
        if left <= 0:
            raise psycopg.errors.QueryCanceled("the probe has no time left")
        with self._raw.transaction(), self._raw.cursor() as cursor:
            cursor.execute(_SETTINGS, [f"{left * 1000:.0f}ms"])
            return cursor.execute(sql, values).fetchall()


@contextmanager
def probe(seconds: float) -> Iterator[Probe]:
    """A connection of its own for at most `seconds` after it was made.

    Django's own connection would not do: once the server is frozen (not gone), a statement on it waits for ever, and
    no timeout of the server's can help. Here the socket is shut down when the time is up.

    Raises:
        psycopg.Error: the database cannot be reached.
    """
    with psycopg.connect(**_parameters(), autocommit=True) as raw:
        raw.read_only = True
        with socket.socket(fileno=os.dup(raw.fileno())) as duplicate:
            watchdog = threading.Timer(seconds + 0.5, _shut_down, [duplicate])
            watchdog.daemon = True
            watchdog.start()
            try:
                yield Probe(raw, time.monotonic() + seconds)
            finally:
                watchdog.cancel()


def _parameters() -> dict[str, Any]:
    ours = {"cursor_factory", "context"}  # Django's cursors and types are not needed here
    parameters = {k: v for k, v in connection.get_connection_params().items() if k not in ours}
    return {**parameters, "connect_timeout": CONNECT_SECONDS, "prepare_threshold": None}


def _shut_down(duplicate: socket.socket) -> None:
    with suppress(OSError):  # the connection ended by itself
        duplicate.shutdown(socket.SHUT_RDWR)
