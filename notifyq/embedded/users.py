"""Joining and leaving an embedded server: the first process to come starts it, the last to go stops it."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

from notifyq.embedded.cluster import Cluster, database_url
from notifyq.embedded.home import find_home, open_data_dir
from notifyq.embedded.locks import is_unused, share_users_lock, start_lock

_joined: dict[Path, int] = {}
"""Data directories this process uses, with the file descriptor that holds the users lock."""


def join(data_dir: Path, settings: Mapping[str, str] | None = None) -> str:
    """Start the server of `data_dir` unless it runs, become one of its users until exit, and return its DATABASE_URL.

    Safe under any number of processes at once, and repeatable: a second call restarts a server that was killed.
    A forked child counts as a user too.

    Args:
        settings: lines for postgresql.conf, used if the server has to be started.

    Raises:
        ConfigurationError: it cannot be created or started, in one line.
    """
    directory = open_data_dir(data_dir)
    with start_lock(directory):
        newcomer = directory not in _joined
        if newcomer:
            _joined[directory] = share_users_lock(directory)
            atexit.register(_leave_at_exit, directory)
        try:
            cluster = Cluster.open(directory)
            cluster.ensure_running(settings or {})
        except Exception:
            if newcomer:
                os.close(_joined.pop(directory))
            raise
    return cluster.url


def leave(data_dir: Path) -> None:
    """Stop being a user; the last one stops the server. Harmless when this process never joined or has left."""
    directory = data_dir.absolute()
    if (handle := _joined.pop(directory, None)) is None:
        return
    with start_lock(directory):
        # Closed and opened anew, not turned exclusive: a forked child may still hold the lock through the same file.
        os.close(handle)
        if is_unused(directory):
            Cluster.open(directory).stop()


def url_of(data_dir: Path) -> str | None:
    """The DATABASE_URL that `join` returns for this data directory, or None if no server was ever started there."""
    home = find_home(data_dir.absolute())
    try:
        return database_url((home / "password").read_text(), Path((home / "socket_directory").read_text()))
    except OSError:
        return None


def _leave_at_exit(directory: Path) -> None:
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # impatience must not leave the server behind
    leave(directory)
