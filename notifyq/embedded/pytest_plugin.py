"""Gives the test suite its PostgreSQL: DATABASE_URL if it is set, else an embedded server for this run.

Loaded with `-p`, as a conftest would come too late: pytest-django reads the settings before any. Workers of
pytest-xdist are started later and inherit the address. So they do where compiled modules are kept, as do the hundreds
of commands that the tests start.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from types import FrameType

import pytest

from notifications.errors import ConfigurationError
from notifyq.embedded.home import open_data_dir, remove_home
from notifyq.embedded.locks import try_lock
from notifyq.embedded.users import join
from notifyq.startup import BASE_DIR

TESTS_DIR = BASE_DIR / ".data" / "tests"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300"}


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Generator[None]:
    keep_compiled(TESTS_DIR / "compiled")
    os.environ.setdefault("SECRET_KEY", "for-tests-only")
    if not os.environ.get("DATABASE_URL"):
        signal.signal(signal.SIGTERM, _interrupt)
        os.environ["DATABASE_URL"] = _start(_free_directory(TESTS_DIR))
    return (yield)


def keep_compiled(directory: Path) -> None:
    """Where the environment forbids to write compiled modules beside their sources, as images of containers often do,
    write them to `directory`, or each of many processes would compile all of them anew."""
    if not sys.dont_write_bytecode or sys.pycache_prefix is not None:
        return
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(directory)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(directory)


def _free_directory(parent: Path) -> Path:
    """The first numbered directory that no other run is using. Kept from run to run: it saves creating a cluster."""
    for number in itertools.count(1):
        directory = open_data_dir(parent / str(number))
        if try_lock(directory / "test-run.lock") is not None:  # held until this process ends
            return directory
    raise AssertionError("unreachable")


def _start(data_dir: Path) -> str:
    try:
        return join(data_dir, FAST)
    except ConfigurationError:
        remove_home(data_dir)  # without fsync a power cut may have ruined it, and nothing in it is of value
        return join(data_dir, FAST)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # ends the run in good order, which pytest would not do for SystemExit
