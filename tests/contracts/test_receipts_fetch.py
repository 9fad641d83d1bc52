"""What is fetched from SNS: bounded in time and length, from nowhere else, whatever the other side does."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

pytest.register_assert_rewrite("tests.contracts.conformance")

from notifications.receipts.base import Unavailable  # noqa: E402
from notifications.receipts.sns import fetch  # noqa: E402
from tests.contracts.conformance import answering, http_answer  # noqa: E402
from tests.support.fault_server import FaultServer, Peer, closed_port  # noqa: E402


def _drip(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    peer.drip(b"x")


def _silent(peer: Peer) -> None:
    peer.wait_until_gone()


def test_fetch__a_short_answer__is_returned() -> None:
    with FaultServer(answering(http_answer(200, b"certificate"))) as server:
        assert fetch(server.url) == b"certificate"


def test_fetch__a_long_answer__is_cut() -> None:
    with FaultServer(answering(http_answer(200, b"x" * 200_000))) as server:
        assert len(fetch(server.url)) == 1 << 16


@pytest.mark.parametrize("status", [302, 403, 404, 500])
def test_fetch__any_other_status__is_unavailable_and_nothing_is_followed(status: int) -> None:
    with FaultServer(answering(http_answer(200, b"elsewhere"))) as other:
        answer = http_answer(status, b"certificate", Location=other.url)
        with FaultServer(answering(answer)) as server, pytest.raises(Unavailable, match=f"status {status}"):
            fetch(server.url)
        assert other.requests == []


@pytest.mark.parametrize("script", [_drip, _silent, Peer.reset])
def test_fetch__a_peer_that_fails__is_unavailable_in_time(script: Callable[[Peer], None]) -> None:
    began = time.monotonic()
    with FaultServer(script) as server, pytest.raises(Unavailable):
        fetch(server.url, timeout_seconds=0.3)
    assert time.monotonic() - began < 5


def test_fetch__nobody_there__is_unavailable() -> None:
    with pytest.raises(Unavailable):
        fetch(f"http://127.0.0.1:{closed_port()}")
