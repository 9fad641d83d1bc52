"""The API's server and callers who never finish what they say."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import requests
from django.db import connection

from tests.support.embedded_users import ROOT
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
HEAD = "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}\r\n"


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server with two threads, that waits a second for a body."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
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
            stderr=subprocess.DEVNULL,
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
