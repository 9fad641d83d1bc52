"""The API's server and callers who never finish what they say."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
import requests
from django.db import connection

from tests.support.embedded_users import ROOT
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
HEAD = "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}\r\n"


@pytest.fixture(scope="module")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="module")
def port(django_db_setup: None, server_log: Path) -> Iterator[int]:
    """Of a server with two threads, that waits a second for a body."""
    with socket.create_server(("127.0.0.1", 0)) as listening, server_log.open("w") as log:
        port = int(listening.getsockname()[1])
        values = connection.settings_dict
        url = "postgres://{USER}:{PASSWORD}@/{NAME}".format(**values)
        query = f"?host={values['HOST'].replace('/', '%2F')}" + (f"&port={values['PORT']}" if values["PORT"] else "")
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gunicorn",
                "notifyq.wsgi",
                "--bind",
                f"fd://{listening.fileno()}",
                "--threads",
                "2",
            ],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": url + query, "NOTIFYQ_REQUEST_BODY_SECONDS": "1"},
            pass_fds=(listening.fileno(),),
            stderr=log,
        )
    try:
        wait_until(lambda: is_alive(port), 30, "the server answers")
        yield port
    finally:
        server.terminate()
        server.wait(30)


def is_alive(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/health/live", timeout=20).ok
    except requests.RequestException:
        return False


def say(port: int, path: str, more: str, body: bytes = b"") -> socket.socket:
    caller = socket.create_connection(("127.0.0.1", port), timeout=20)
    caller.sendall(HEAD.format(path=path, more=more).encode() + body)
    return caller


def status_of(caller: socket.socket) -> int:
    return int(caller.recv(4096).split(b" ", 2)[1])


@pytest.mark.parametrize(
    ("path", "more", "body"),
    [
        ("/api/v1/notifications", "Transfer-Encoding: chunked\r\n", b"5\r\n{"),
        ("/api/v1/notifications", "Content-Length: 50\r\n", b"{"),
        ("/api/v1/notifications", "Authorization: Bearer x\r\nTransfer-Encoding: chunked\r\n", b"5\r\n{"),
        ("/receipts/sandbox", "Transfer-Encoding: chunked\r\n", b"5\r\n{"),
    ],
)
def test_callers__more_than_threads_who_never_finish__keep_nobody_else_out(
    port: int, path: str, more: str, body: bytes
) -> None:
    with ExitStack() as stack:
        callers = [stack.enter_context(say(port, path, more, body)) for _ in range(6)]
        assert is_alive(port)
        assert {status_of(caller) for caller in callers} <= {401, 404, 408}
        for caller in callers:
            while caller.recv(4096):
                pass  # to the end: the server closes it


def test_chunk__that_is_none__is_told(port: int) -> None:
    with say(port, "/receipts/sandbox", "Transfer-Encoding: chunked\r\n", b"zz\r\n{}\r\n0\r\n\r\n") as caller:
        assert status_of(caller) in (400, 404)
    key = "Authorization: Bearer x\r\n"
    with say(port, "/api/v1/notifications", key + "Transfer-Encoding: chunked\r\n", b"zz\r\n{}\r\n0\r\n\r\n") as caller:
        assert status_of(caller) == 400


def test_refused__body_comes_behind_the_answer__is_no_request(port: int) -> None:
    smuggled = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for _ in range(5):
        with say(port, "/api/v1/notifications", f"Content-Length: {len(smuggled)}\r\n") as caller:
            answer = caller.recv(4096)
            assert answer.startswith(b"HTTP/1.1 401")
            assert b"\r\nConnection: close\r\n" in answer
            with suppress(OSError):
                caller.sendall(smuggled)
                while more := caller.recv(4096):
                    answer += more
            assert answer.count(b"HTTP/1.1 ") == 1


def test_refused__body_is_there__the_connection_goes_on(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        for path, status in (("/api/v1/notifications", 401), ("/nowhere", 404), ("/admin/login/", 403)) * 5:
            connection.request("POST", path, b'{"recipient": "ada@example.com"}', {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert (answer.status, answer.getheader("Connection")) == (status, "keep-alive")
            answer.read()


def test_request__that_is_none__stands_in_no_log(port: int, server_log: Path) -> None:
    with say(port, "/api/v1/notifications", "Content-Length: 0\r\n", b"SECRET=1 ada@example.com\r\n\r\n") as caller:
        caller.shutdown(socket.SHUT_WR)
        while caller.recv(4096):
            pass
    wait_until(lambda: "Invalid request" in server_log.read_text(), 20, "the server says that something was wrong")
    assert "ada@example.com" not in server_log.read_text()
