"""How long a caller may take to send a body: a thread of the server waits for it, and there are few of those.

A proxy that takes in whole requests before it passes them on is the better place for this. Without one, a few callers
who never finish would keep everybody else out.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Protocol

DRAIN_SECONDS = 2.0
"""So long the rest of a refused body is taken in, so that its sender reads why."""

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class BodyTooSlow(OSError):
    """The body did not come in time; the connection takes in nothing more."""


class Input(Protocol):
    """What a server gives as `wsgi.input`."""

    def read(self, size: int = -1, /) -> bytes: ...
    def readline(self, size: int = -1, /) -> bytes: ...


class PatientInput:
    """`wsgi.input` that gives up on a body which has not come after so many seconds, counted from the first read.

    Args:
        length: as stated; None for one that ends where it ends.
        connection: the caller's; None where the server does not tell, and then the time is looked at between reads.
    """

    def __init__(
        self, stream: Input, connection: socket.socket | None, seconds: float, length: int | None = None
    ) -> None:
        self._stream = stream
        self._connection = connection
        self._seconds = seconds
        self._left = length
        self._until: float | None = None
        self._is_complete = length == 0
        self.is_reading = False
        self.is_given_up = False

    def read(self, size: int = -1) -> bytes:
        return self._bounded(self._stream.read, size)

    def readline(self, size: int = -1) -> bytes:
        return self._bounded(self._stream.readline, size)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def hurry(self, seconds: float) -> None:
        """From now on wait no longer than that for more."""
        self._until = min(self._until or float("inf"), time.monotonic() + seconds)
        if self._connection is not None:
            self._connection.settimeout(seconds)

    def give_up(self) -> None:
        """Take in nothing more: the server finds the end of the connection where it looks for the next request."""
        self.is_given_up = True
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RD)

    def finish(self) -> None:
        """The answer is there: what was not read by now is not waited for."""
        if not self._is_complete:
            self.give_up()

    def _bounded(self, read: Callable[[int], bytes], size: int) -> bytes:
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._seconds
            _WATCHDOG.watch(self, self._until)
        if self.is_given_up or now >= self._until:
            self.give_up()
            raise BodyTooSlow("the body did not come in time")
        self.is_reading = True
        try:
            data = read(size)
        except Exception as error:
            # Where the connection was shut in mid-read, each server has its own word for that.
            if not (self.is_given_up or isinstance(error, TimeoutError)):
                raise
            self.give_up()
            raise BodyTooSlow("the body did not come in time") from None
        finally:
            self.is_reading = False
        if self.is_given_up:
            raise BodyTooSlow("the body did not come in time")
        self._count(data, size)
        return data

    def _count(self, data: bytes, size: int) -> None:
        if self._left is not None:
            self._left -= len(data)
        self._is_complete = self._is_complete or self._left == 0 or (not data and size != 0)


class _Watchdog:
    """One thread for all bodies of a process. All may take equally long, so the first to begin is the first to end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: deque[tuple[float, PatientInput]] = deque()
        self._thread: threading.Thread | None = None

    def watch(self, body: PatientInput, until: float) -> None:
        with self._lock:
            self._watched.append((until, body))
            if self._thread is None or not self._thread.is_alive():  # also after a fork
                self._thread = threading.Thread(target=self._run, name="bodies", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                until, body = self._watched[0]
            if (left := until - time.monotonic()) > 0:
                time.sleep(left)
            with self._lock:
                self._watched.popleft()
            if body.is_reading:
                body.give_up()


_WATCHDOG = _Watchdog()


def patient(application: Application, seconds: float) -> Application:
    """The WSGI application, with bodies that do not come given up."""

    def bounded(call: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        stated = call.get("CONTENT_LENGTH") or ""
        is_chunked = bool(call.get("HTTP_TRANSFER_ENCODING"))
        length = int(stated) if stated.isascii() and stated.isdigit() else None if is_chunked else 0
        body = PatientInput(call["wsgi.input"], call.get("gunicorn.socket"), seconds, length)
        call["wsgi.input"] = body
        try:
            return application(call, start_response)
        finally:
            body.finish()

    return bounded
