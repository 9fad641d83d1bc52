"""Two file locks of a data directory. The kernel drops them when a process ends, whatever ended it.

The start lock is held by one process at a time while it starts or stops the server. The users lock is held shared by
every process that uses the server; who gets it exclusively is alone. The files stay: a lock on a deleted file excludes
nobody. Locks belong to the open file, so a forked child holds its parent's until both have closed it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from notifications.errors import ConfigurationError


@contextmanager
def start_lock(data_dir: Path) -> Iterator[None]:
    """Wait for the start lock and hold it. Every holder works under time limits of its own."""
    handle = _open(data_dir / "postgres.start.lock")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def share_users_lock(data_dir: Path) -> int:
    """Become a user; the returned file descriptor holds the lock. Call with the start lock held."""
    handle = _open(data_dir / "postgres.users.lock")
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def is_unused(data_dir: Path) -> bool:
    """Whether no process is a user. Call with the start lock held, so that nobody can become one."""
    if (handle := try_lock(data_dir / "postgres.users.lock")) is None:
        return False
    os.close(handle)
    return True


def try_lock(path: Path) -> int | None:
    """Take the lock of one file without waiting; the returned descriptor holds it. None: somebody else has it."""
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError:
        raise ConfigurationError(f"{path} belongs to somebody else: set NOTIFYQ_DATA_DIR or DATABASE_URL") from None
