"""Bodies that do not come, over a real pair of sockets."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Iterator

import pytest

from notifyq.rest.patience import BodyTooSlow, PatientInput, patient


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


class Wire:
    """Reads like a server: as much as was asked for, however many pieces it comes in."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, size: int = -1) -> bytes:
        found = b""
        while len(found) < size and (data := self._sock.recv(size - len(found))):
            found += data
        return found

    readline = read


def test_read__body_never_comes__is_given_up_in_time(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    began = time.monotonic()
    with pytest.raises(BodyTooSlow):
        PatientInput(Wire(ours), ours, 0.1, 10).read(10)
    assert 0.1 <= time.monotonic() - began < 5
    assert ours.recv(1) == b""


def test_read__body_drips__is_given_up_all_the_same(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"abc")
    body = PatientInput(Wire(ours), ours, 0.1, 10)
    with pytest.raises(BodyTooSlow):
        body.read(10)
    with pytest.raises(BodyTooSlow):
        body.read(1)


def test_read__body_comes__is_read_and_the_connection_stays(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"0123456789")
    body = PatientInput(Wire(ours), ours, 5, 10)
    assert body.read(4) + body.read(6) == b"0123456789"
    body.finish()
    theirs.sendall(b"next")
    assert ours.recv(4) == b"next"


def test_finish__body_was_left_unread__takes_in_nothing_more(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    PatientInput(Wire(ours), ours, 5, 10).finish()
    assert ours.recv(1) == b""


def test_hurry__from_then_on__waits_no_longer(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    body = PatientInput(Wire(ours), ours, 60, 10)
    body.hurry(0.05)
    began = time.monotonic()
    with pytest.raises(BodyTooSlow):
        body.read(10)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("stated", "chunked", "closes"), [("", "", False), ("0", "", False), ("3", "", True), ("", "chunked", True)]
)
def test_patient__answer_without_reading__closes_only_where_a_body_is_left(
    pair: tuple[socket.socket, socket.socket], stated: str, chunked: str, closes: bool
) -> None:
    ours, theirs = pair
    environ = {
        "wsgi.input": io.BytesIO(b"abc"),
        "gunicorn.socket": ours,
        "CONTENT_LENGTH": stated,
        "HTTP_TRANSFER_ENCODING": chunked,
    }
    assert patient(lambda _environ, _start: [b"answer"], 5)(environ, None) == [b"answer"]
    if closes:
        assert ours.recv(1) == b""
    else:
        theirs.sendall(b"n")
        assert ours.recv(1) == b"n"
