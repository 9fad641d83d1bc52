"""A sandbox provider and a fleet of workers for each test, cleaned up whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.adapters import EXTRA
from tests.support.sandbox import Sandbox, sandbox_here
from tests.support.workers import Fleet


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    with sandbox_here(tmp_path / "sandbox.sqlite3") as serving:
        yield serving


@pytest.fixture
def fleet(transactional_db: None, tmp_path: Path, sandbox: Sandbox) -> Iterator[Fleet]:
    """Workers whose channels all go to the sandbox."""
    fleet = Fleet(tmp_path, NOTIFYQ_SANDBOX_URL=sandbox.url)
    yield fleet
    fleet.end()


@pytest.fixture
def file_fleet(transactional_db: None, tmp_path: Path) -> Iterator[Fleet]:
    """Workers whose channels go to adapters of the tests that write into `tmp_path / "sent"`."""
    fleet = Fleet(
        tmp_path,
        NOTIFYQ_EXTRA_PROVIDERS=EXTRA,
        NOTIFYQ_FILE_PATH=str(tmp_path / "sent"),
        NOTIFYQ_EMAIL_PROVIDERS="file",
    )
    yield fleet
    fleet.end()
