import os
import socket
import threading
import time

import pytest

from notifications.providers import resolver
from notifications.providers.deadline import WATCHDOG, Deadline, Watchdog
from notifications.providers.resolver import resolve


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        yield ours


def test_watchdog__deadline_passes__wakes_the_blocked_read(pair):
    watchdog, deadline = Watchdog(), Deadline(0.1)
    began = time.monotonic()
    watchdog.watch(deadline, pair)

    assert pair.recv(1) == b""
    assert deadline.fired
    assert 0.1 <= time.monotonic() - began < 5


def test_watchdog__earlier_deadline_comes_later__is_not_kept_waiting(pair):
    watchdog, late, early = Watchdog(), Deadline(60), Deadline(0.1)
    other, _ = socket.socketpair()
    with other, _:
        watchdog.watch(late, other)
        watchdog.watch(early, pair)

        assert pair.recv(1) == b""
    assert (early.fired, late.fired) == (True, False)


def test_watchdog__call_ends_first__leaves_the_socket_alone(pair):
    watchdog, deadline, guard = Watchdog(), Deadline(0.05), Deadline(0.2)
    watchdog.watch(deadline, pair)
    watchdog.release(deadline)
    other, _ = socket.socketpair()
    with other, _:
        other.settimeout(5)
        watchdog.watch(guard, other)
        other.recv(1)

    assert guard.fired
    assert not deadline.fired
    assert pair.send(b"x") == 1
    assert watchdog.watched_count == 0


def test_watchdog__connection_closed_during_the_call__keeps_the_handle_to_its_end(pair):
    watchdog, deadline = Watchdog(), Deadline(60)
    handle = pair.dup()
    watchdog.watch(deadline, handle)
    watchdog.close(handle, deadline)
    assert handle.fileno() != -1

    watchdog.release(deadline)
    assert handle.fileno() == -1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that is what is being tested
def test_watchdog__forked_child__watches_anew(pair):
    parents = Deadline(60)
    WATCHDOG.watch(parents, pair)
    child = os.fork()
    if child == 0:
        try:
            WATCHDOG.watch(Deadline(0.1), pair)
            os._exit(0 if pair.recv(1) == b"" and WATCHDOG.watched_count == 0 else 1)
        finally:
            os._exit(2)

    status = os.waitpid(child, 0)[1]
    WATCHDOG.release(parents)
    assert os.waitstatus_to_exitcode(status) == 0


def test_resolve__number__asks_nobody(monkeypatch):
    monkeypatch.delattr(socket, "getaddrinfo")

    assert resolve("127.0.0.1", 80, 1) == ["127.0.0.1"]
    assert resolve("[::1]", 80, 1) == ["::1"]


def test_resolve__nobody_answers__is_given_up_and_asked_only_once(monkeypatch):
    answer, asked = threading.Event(), []

    def blocked(host, port, **_):
        asked.append(host)
        answer.wait(10)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", blocked)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            resolve("slow.example", 80, 0.05)
    waiting = resolver._RESOLVER.ask("slow.example", 80)
    answer.set()

    assert waiting.result(5) == ["192.0.2.1"]
    assert asked == ["slow.example"]
