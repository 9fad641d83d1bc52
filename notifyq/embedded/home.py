"""Where an embedded server keeps its files, and the small private files in it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from notifications.errors import ConfigurationError
from notifyq.embedded.account import Account, can_reach, hand_over, server_account

# A socket's path may have 107 bytes (104 on macOS) and TMPDIR is often long, so sockets live below /tmp itself.
_SOCKETS = Path("/tmp")  # noqa: S108 - in a directory of mode 700 with a random name
_SYSTEM = Path("/var/lib")


def open_data_dir(data_dir: Path) -> Path:
    """Create the data directory if it is missing and return its absolute path.

    Others may pass through it (the server's user must, when we are root) but not list it; what is secret in it is
    closed by its own mode.
    """
    absolute = data_dir.absolute()
    try:
        absolute.mkdir(mode=0o711, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"the data directory {absolute} cannot be created: {error.strerror}") from None
    if not os.access(absolute, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigurationError(f"the data directory {absolute} belongs to somebody else: set NOTIFYQ_DATA_DIR")
    return absolute


def find_home(data_dir: Path) -> Path:
    """Where the server of this data directory lives (or would): `postgres` in it, with any symbolic link followed."""
    return (data_dir / "postgres").resolve()


def open_home(data_dir: Path) -> tuple[Path, Account | None]:
    """Create the server's home if it is missing; return it and who runs the server.

    Run as root, `postgres` in the data directory becomes a link to a directory below /var/lib when the server's user
    cannot reach the data directory (a checkout below /root). Call with the start lock held.

    Raises:
        ConfigurationError: no place was found.
    """
    home = find_home(data_dir)
    account = server_account(home)
    if not home.is_dir():
        _create_home(data_dir / "postgres", account)
        home = find_home(data_dir)
    return home, account


def _create_home(wanted: Path, account: Account | None) -> None:
    if wanted.is_symlink():
        wanted.unlink()  # what it led to is gone
    wanted.mkdir(mode=0o700)
    hand_over(wanted, account)
    if can_reach(wanted, account):
        return
    wanted.rmdir()
    try:
        elsewhere = Path(tempfile.mkdtemp(prefix="notifyq-", dir=_SYSTEM))
    except OSError as error:
        raise ConfigurationError(
            f"run as root, the embedded PostgreSQL needs a directory below {_SYSTEM}: {error.strerror}"
        ) from None
    hand_over(elsewhere, account)
    wanted.symlink_to(elsewhere, target_is_directory=True)


def remove_home(data_dir: Path) -> None:
    """Delete the server's files, also where they lie outside the data directory. It must not be running."""
    link, home = data_dir / "postgres", find_home(data_dir)
    if (home / "socket_directory").is_file():
        shutil.rmtree((home / "socket_directory").read_text(), ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)
    if link.is_symlink():
        link.unlink()


def socket_directory(home: Path, account: Account | None) -> Path:
    """Return the private directory of the server's socket, created if need be. Its name stays the same, as it is part
    of the address that running processes hold."""
    note = home / "socket_directory"
    if note.is_file():
        directory = Path(note.read_text())
        if _made_private(directory, account):
            return directory
    directory = Path(tempfile.mkdtemp(prefix="notifyq-", dir=_SOCKETS))
    hand_over(directory, account)
    write_private(note, str(directory), account)
    return directory


def _made_private(directory: Path, account: Account | None) -> bool:
    """Whether the directory is ours alone; makes it anew when it was cleaned away (a restart empties /tmp)."""
    try:
        directory.mkdir(mode=0o700)
        hand_over(directory, account)
    except FileExistsError:
        facts = directory.lstat()
        owner = os.geteuid() if account is None else account.uid
        return facts.st_uid == owner and directory.is_dir() and not directory.is_symlink() and not facts.st_mode & 0o077
    return True


def write_private(path: Path, text: str, account: Account | None = None) -> None:
    """Write a file of mode 600 in one step: readers see the old text or the new one, never half of it."""
    handle, scratch = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    hand_over(Path(scratch), account)
    Path(scratch).replace(path)


def kept_secret(
    path: Path, make: Callable[[], str] = lambda: secrets.token_urlsafe(48), *, account: Account | None = None
) -> str:
    """Return the text kept in `path`, made and stored (mode 600) the first time. Callers exclude each other."""
    if not path.is_file():
        write_private(path, make(), account)
    return path.read_text()
