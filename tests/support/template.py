"""One database with all migrations, of which each worker of pytest-xdist gets a copy: making it takes longer than
copying it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from tests.support.workers import ROOT, database_url

MIGRATE_SECONDS = 100


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Called by pytest-django before it makes the database of this process."""
    if not hasattr(request.config, "workerinput"):  # the tests are not spread over processes
        return
    name = _name()
    with _in_turn(tmp_path_factory.getbasetemp().parent / "template.lock") as is_first:
        if is_first:
            _make(name)
    settings.DATABASES["default"]["TEST"]["TEMPLATE"] = name


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """When all workers have ended."""
    if session.config.pluginmanager.has_plugin("dsession"):  # this is the process that spreads them
        _execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", _name())


@contextmanager
def _in_turn(file: Path) -> Iterator[bool]:
    """Whether nobody of this run came before; whoever comes meanwhile waits."""
    with file.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # closing the file unlocks it
        lock.seek(0)
        yield not lock.read()
        lock.write("made")


def _make(name: str) -> None:
    _execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)  # of a run that was killed
    _execute("CREATE DATABASE {}", name)
    environment = {**os.environ, "DATABASE_URL": database_url(name)}
    command = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=MIGRATE_SECONDS)


def _execute(statement: str, name: str) -> None:
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        server.execute(sql.SQL(statement).format(sql.Identifier(name)))


def _name() -> str:
    """Two runs on one database at once are impossible anyway: those of pytest-django have fixed names too."""
    return f"test_{settings.DATABASES['default']['NAME']}_template"
