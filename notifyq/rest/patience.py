"""How long a caller may take to send a body: a thread of the server waits for it, and there are few of those.

A proxy that takes in whole requests before it passes them on is the better place for this. Without one, a few callers
who never finish would keep everybody else out.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Any, Protocol

DRAIN_SECONDS = 2.0
"""So long the rest of a refused body is taken in, so that its sender reads why."""
REST_SECONDS = 0.25
REST_BYTES = 1 << 18
"""What an answer waits for of a body that nobody has read, so that the connection can go on behind it."""

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
        _WATCHDOG.watch(self, self._until)

    def take_in_rest(self) -> bool:
        """Read what nobody has read, if it is little and is there in a moment.

        Returns:
            Whether the body has been read to its end. Otherwise what comes next on the connection is the rest of it,
            and must not be taken for a request.
        """
        if not self._is_complete and not self.is_given_up and (self._left or 0) <= REST_BYTES:
            self.hurry(REST_SECONDS)
            with suppress(Exception):  # each server has its own kinds for a body that is none
                left = REST_BYTES
                while left > 0 and not self._is_complete:
                    left -= len(self.read(min(left, self._left or left)))
        return self._is_complete

    def give_up(self) -> None:
        """Take in nothing more: whoever is reading finds the end of the connection. Bytes that come later are there
        again all the same, so the connection is good for nothing more."""
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
    """One thread for all bodies of a process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watched: list[tuple[float, int, PatientInput]] = []
        self._numbers = count()
        self._thread: threading.Thread | None = None

    def watch(self, body: PatientInput, until: float) -> None:
        with self._changed:
            heappush(self._watched, (until, next(self._numbers), body))
            if self._thread is None or not self._thread.is_alive():  # also after a fork
                self._thread = threading.Thread(target=self._run, name="bodies", daemon=True)
                self._thread.start()
            elif self._watched[0][-1] is body:
                self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while self._watched:
                until, _, body = self._watched[0]
                if (left := until - time.monotonic()) > 0:
                    self._changed.wait(left)
                    continue
                heappop(self._watched)
                if body.is_reading:
                    body.give_up()
            self._thread = None


_WATCHDOG = _Watchdog()


def patient(application: Application, seconds: float) -> Application:
    """The WSGI application, with bodies that do not come given up. Behind an answer that went out before its body was
    there the connection ends, and the answer says so."""

    def bounded(call: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        stated = call.get("CONTENT_LENGTH") or ""
        is_chunked = bool(call.get("HTTP_TRANSFER_ENCODING"))
        length = int(stated) if stated.isascii() and stated.isdigit() else None if is_chunked else 0
        body = PatientInput(call["wsgi.input"], call.get("gunicorn.socket"), seconds, length)
        call["wsgi.input"] = body

        def start(*answer: Any) -> Any:
            if not body.take_in_rest():
                _close_behind(start_response)
            return start_response(*answer)

        try:
            return application(call, start)
        finally:
            body.finish()

    return bounded


def _close_behind(start_response: Any) -> None:
    """Gunicorn's way: an application may not set `Connection` itself. Other servers do not tell us their connection,
    and read to the end of a body by themselves."""
    force_close = getattr(getattr(start_response, "__self__", None), "force_close", None)
    if force_close is not None:
        force_close()
