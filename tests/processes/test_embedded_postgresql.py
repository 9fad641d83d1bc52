"""The embedded server under real processes: who starts it, who stops it, and what survives which death."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import psycopg
import pytest

from tests.support.embedded_users import ROOT, User, answers, clean_environment, remove, server_pid

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("embedded")]

Join = Callable[..., User]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One directory for all tests: each leaves the server stopped or lets the next find what it left."""
    directory = tmp_path_factory.mktemp("with a space") / "data dir"
    yield directory
    remove(directory)


@pytest.fixture
def join(data_dir: Path) -> Iterator[Join]:
    users: list[User] = []

    def start(*arguments: str, **options: Any) -> User:
        users.append(User(data_dir, *arguments, **options))
        return users[-1]

    yield start
    for user in users:
        user.close()


def database_answers(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_database(), current_setting('server_encoding')").fetchone()
    return row == ("notifyq", "UTF8")


def test_join__six_processes_at_once__one_server_with_one_address(join: Join, data_dir: Path) -> None:
    users = [join() for _ in range(6)]
    (url,) = {user.joined() for user in users}
    assert database_answers(url)
    for user in users[:-1]:
        user.finish()
    assert answers(url)
    users[-1].finish()
    assert not answers(url)


def test_join__directory_known_before__same_address_and_data(join: Join) -> None:
    first = join()
    url = first.joined()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    first.finish()
    assert join().joined() == url
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE kept")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_leave__last_user_ended_by_a_signal__server_is_stopped(join: Join, number: signal.Signals) -> None:
    user = join()
    url = user.joined()
    user.signal(number)
    assert not answers(url)


def test_leave__another_user_was_killed__last_one_still_stops_the_server(join: Join) -> None:
    victim, survivor = join(), join()
    url = victim.joined()
    survivor.joined()
    victim.signal(signal.SIGKILL)
    assert answers(url)
    survivor.finish()
    assert not answers(url)


def test_leave__all_users_were_killed__next_user_takes_the_server_over_and_stops_it(join: Join, data_dir: Path) -> None:
    victim = join()
    url = victim.joined()
    pid = server_pid(data_dir)
    victim.signal(signal.SIGKILL)
    heir = join()
    assert heir.joined() == url
    assert server_pid(data_dir) == pid
    heir.finish()
    assert not answers(url)


def test_join__server_was_killed__started_again_at_the_same_address(join: Join, data_dir: Path) -> None:
    bystander = join()
    url = bystander.joined()
    os.kill(server_pid(data_dir), signal.SIGKILL)
    assert join().joined() == url
    assert database_answers(url)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_join__killed_server_stays_a_zombie__started_again(join: Join, data_dir: Path) -> None:
    adopting = """
import ctypes, sys
from pathlib import Path
from typing import Any
from notifyq.embedded import join
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
print(join(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""
    url = join(adopting).joined()
    pid = server_pid(data_dir)
    os.kill(pid, signal.SIGKILL)
    assert join().joined() == url
    assert Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    assert database_answers(url)


def test_join__pid_file_names_a_living_stranger__server_starts(join: Join, data_dir: Path) -> None:
    victim = join()
    url = victim.joined()
    os.kill(server_pid(data_dir), signal.SIGKILL)
    victim.finish()
    pid_file = data_dir / "postgres" / "data" / "postmaster.pid"
    lines = pid_file.read_text().split("\n")
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    join().joined()
    assert database_answers(url)


def test_join__pid_file_is_empty__server_starts(join: Join, data_dir: Path) -> None:
    victim = join()
    url = victim.joined()
    os.kill(server_pid(data_dir), signal.SIGKILL)
    victim.finish()
    (data_dir / "postgres" / "data" / "postmaster.pid").write_text("")
    join().joined()
    assert database_answers(url)


def test_join__socket_was_cleaned_away__server_is_restarted_at_the_same_address(join: Join, data_dir: Path) -> None:
    bystander = join()
    url = bystander.joined()
    shutil.rmtree((data_dir / "postgres" / "socket_directory").read_text())
    assert join().joined() == url
    assert database_answers(url)


def test_join__forked_child_outlives_its_parent__server_stays_until_the_child_ends(join: Join) -> None:
    forking = """
import os, sys
from pathlib import Path
from typing import Any
from notifyq.embedded import join
url = join(Path(sys.argv[1]))
if os.fork():
    sys.exit()
print(url, flush=True)
sys.stdin.read()
"""
    parent = join(forking)
    url = parent.joined()
    parent.process.wait(timeout=30)
    assert answers(url)
    parent.finish()
    assert not answers(url)


def test_join__foreign_locale_and_postgresql_variables__ignored(tmp_path: Path) -> None:
    user = User(tmp_path / "d", env={"LC_ALL": "xx_YY.nonsense", "PGDATA": "/nowhere", "PGPORT": "5999"})
    try:
        url = user.joined()
        user.finish()
        assert url.startswith("postgres://postgres:")
    finally:
        user.close()
        remove(tmp_path / "d")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; run as one, the other tests cover it")
def test_join__as_ordinary_user__server_runs_as_that_user() -> None:
    nobody = pwd.getpwnam("nobody")
    identity: dict[str, Any] = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]), "HOME": "/nonexistent"}
    python = _interpreter_for(identity, environment)
    directory = Path(tempfile.mkdtemp(prefix="ordinary user "))
    os.chown(directory, nobody.pw_uid, nobody.pw_gid)
    user = User(directory / "data", python=python, env=environment, **identity)
    try:
        url = user.joined()
        assert (directory / "data" / "postgres" / "data").stat().st_uid == nobody.pw_uid
        assert database_answers(url)
        user.finish()
        assert not answers(url)
    finally:
        user.close()
        shutil.rmtree(unquote(url.partition("?host=")[2].partition("&")[0]), ignore_errors=True)
        shutil.rmtree(directory)


def _interpreter_for(identity: dict, environment: dict[str, str]) -> str:
    """A Python that the unprivileged user can run with our packages; the virtual environment's may be out of reach."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            subprocess.run(
                [python, "-c", "import psycopg, notifyq.embedded"],
                cwd="/",
                env=clean_environment() | environment,
                check=True,
                capture_output=True,
                **identity,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip("no Python with our packages that user nobody could run")
