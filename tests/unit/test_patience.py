"""Bodies that do not come, over a real pair of sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from notifyq.rest.patience import REST_BYTES, BodyTooSlow, PatientInput, patient


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


class Response:
    """As much of gunicorn's as is asked for."""

    is_closing = False

    def force_close(self) -> None:
        self.is_closing = True

    def start_response(self, status: str, headers: list[tuple[str, str]]) -> None:
        assert (status, headers) == ("401 Unauthorized", [])


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("stated", "sent", "closes"),
    [(0, b"", False), (3, b"abc", False), (3, b"ab", True), (REST_BYTES + 1, b"abc", True)],
)
def test_patient__answer_without_reading__closes_only_where_the_body_is_not_there_in_a_moment(
    pair: tuple[socket.socket, socket.socket], stated: int, sent: bytes, closes: bool, chunked: bool
) -> None:
    ours, theirs = pair
    theirs.sendall(sent)
    if chunked and not closes:
        theirs.shutdown(socket.SHUT_WR)  # how this wire marks the end
    head = {"HTTP_TRANSFER_ENCODING": "chunked"} if chunked else {"CONTENT_LENGTH": str(stated)}
    response = Response()

    def refuse(_environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("401 Unauthorized", [])
        return [b"answer"]

    call = {"wsgi.input": Wire(ours), "gunicorn.socket": ours, **head}
    assert patient(refuse, 60)(call, response.start_response) == [b"answer"]
    assert response.is_closing is closes
    if not closes and not chunked:
        theirs.sendall(b"n")
        assert ours.recv(1) == b"n"


def test_watch__one_in_a_hurry_behind_one_that_has_time__is_given_up_first(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    one, other = socket.socketpair()
    with one, other:
        slow = PatientInput(Wire(one), one, 60, 10)
        waiting = threading.Thread(target=lambda: suppressed(slow.read))
        waiting.start()
        fast = PatientInput(Wire(ours), ours, 60, 10)
        fast.hurry(0.05)
        with pytest.raises(BodyTooSlow):
            fast.read(10)
        assert not slow.is_given_up
        other.close()
        waiting.join(20)


def suppressed(read: Any) -> None:
    with suppress(OSError):
        read(10)
