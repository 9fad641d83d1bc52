"""Which operating-system user the server's programs run as: PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from notifications.errors import ConfigurationError

_CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """An unprivileged user of this machine. Where `None` stands in its place, programs run as ourselves."""

    name: str
    uid: int
    gid: int


def server_account(home: Path | None = None) -> Account | None:
    """Choose who runs the server: ourselves, or as root the owner of an existing `home`, else a system user.

    Raises:
        ConfigurationError: we are root and the machine has no unprivileged user to run the server as.
    """
    if os.geteuid() != 0:
        return None
    if home is not None and home.exists() and (owner := home.stat().st_uid) != 0:
        return _by_uid(owner)
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise ConfigurationError("the embedded PostgreSQL cannot run as root and found no other user: set DATABASE_URL")


def _by_uid(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise ConfigurationError(f"the embedded PostgreSQL's files belong to user {uid}, who does not exist") from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def hand_over(path: Path, account: Account | None) -> None:
    """Make `account` the owner of one file or directory."""
    if account is not None:
        os.chown(path, account.uid, account.gid)


def can_reach(directory: Path, account: Account | None) -> bool:
    """Whether `account` may enter `directory`. Asked of the kernel, as modes alone do not tell."""
    return account is None or run(["/bin/sh", "-c", 'cd "$0"', directory], account, Path("/")).returncode == 0


def run(
    command: Sequence[str | Path], account: Account | None, cwd: Path, *, stdin: str = "", timeout_seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run one of the server's programs to its end, with output and errors together in `stdout`.

    It gets a session of its own, so that Ctrl-C in a terminal does not reach the server, and next to nothing of our
    environment: a foreign locale or a PGDATA must not matter.

    Raises:
        OSError: it cannot be executed, e.g. `account` cannot reach it.
        subprocess.TimeoutExpired
    """
    identity: dict[str, Any] = {}
    if account is not None:
        identity = {"user": account.uid, "group": account.gid, "extra_groups": []}
    return subprocess.run(  # noqa: S603 - the commands are our own
        [str(part) for part in command],
        cwd=cwd,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        umask=0o077,
        start_new_session=True,
        timeout=timeout_seconds,
        check=False,
        **identity,
    )
