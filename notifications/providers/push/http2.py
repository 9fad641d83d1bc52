"""One POST over HTTP/2, once, within its time; then an answer, or a verdict.

Needs the packages of the extra `apns`. Every thread has a connection of its own, with one request at a time on it:
connections that threads share lose requests.
"""

from __future__ import annotations

import logging
import select
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpcore2
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from notifications.providers.deadline import WATCHDOG, Deadline
from notifications.providers.http import Answer
from notifications.providers.push.http2_trouble import TROUBLE, NoHttp2Error, http2_verdict
from notifications.providers.resolver import resolve
from notifications.providers.retry_after import parse_retry_after
from notifications.providers.session import CONNECT_TIMEOUT_SECONDS
from notifications.verdict import Verdict
from notifyq.runtime.identity import USER_AGENT

# Its lines name hosts and the headers of answers.
logging.getLogger("httpcore2").setLevel(logging.WARNING)

MAX_ANSWER_BYTES = 64 * 1024
IDLE_SECONDS = 60.0
"""A connection that was idle for so long is replaced: something on the way may have forgotten it, and what is lost in
it leaves us not knowing. Apple wants connections to be kept, so it is no shorter."""
_ENDED = getattr(select, "POLLRDHUP", 0)


class Http2Caller:
    """Calls one server from many threads.

    Args:
        url: with scheme, host and port. Without TLS the server must know that HTTP/2 is spoken.
        certificates: None for the usual authorities (the system's and those of `requests`), or the path of a bundle.

    Raises:
        ValueError: the URL is not in ASCII.
    """

    def __init__(self, url: str, certificates: str | None = None) -> None:
        self._url = url.rstrip("/")
        if not self._url.isascii():
            raise ValueError("the URL is not in ASCII")
        self._origin = httpcore2.URL(self._url).origin
        self._tls = _trusting(certificates) if self._origin.scheme == b"https" else None
        self._local = threading.local()
        self._lines: weakref.WeakSet[_Line] = weakref.WeakSet()
        self._lines_lock = threading.Lock()

    def post(
        self, path: str, headers: Mapping[str, str], content: bytes, *, timeout_seconds: float
    ) -> Answer | Verdict:
        """Make one POST.

        Args:
            headers: ASCII, names in lower case.
            timeout_seconds: bound on everything from name resolution to the last byte of the answer.

        Returns:
            The answer, whatever its status, or the verdict on what went wrong on the way.
        """
        line = self._line()
        deadline = Deadline(timeout_seconds)
        try:
            line.watch(deadline)
            answer = line.post(self._url + path, headers, content, timeout_seconds, deadline)
        except TROUBLE as error:
            line.close()
            return http2_verdict(error, deadline)
        except BaseException:
            line.close()
            raise
        finally:
            WATCHDOG.release(deadline)
        return answer if isinstance(answer, Verdict) else replace(answer, url=path, sent=(headers, content))

    def close(self) -> None:
        """Let go of all connections."""
        with self._lines_lock:
            lines = list(self._lines)
        for line in lines:
            line.close()

    def _line(self) -> _Line:
        line: _Line | None = getattr(self._local, "line", None)
        if line is None:
            line = self._local.line = _Line(self._origin, self._tls)
            with self._lines_lock:
                self._lines.add(line)
        return line


def _trusting(certificates: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certificates)
    if certificates is None:
        context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)  # a small container image may have none of its own
    return context


class _Line(httpcore2.NetworkBackend):
    """The connection of one thread, made when it is needed and made anew when it has ended."""

    def __init__(self, origin: httpcore2.Origin, tls: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._tls = tls
        self._connection: httpcore2.HTTPConnection | None = None
        self._handle: socket.socket | None = None
        self._deadline: Deadline | None = None

    def __del__(self) -> None:
        """Its thread has ended."""
        self.close()

    def watch(self, deadline: Deadline) -> None:
        """From here on the socket in use is shut when the time is over."""
        self._deadline = deadline
        if self._connection is not None and self._is_over(self._connection):
            self.close()
        if self._handle is not None:
            WATCHDOG.watch(deadline, self._handle)

    def post(
        self, url: str, headers: Mapping[str, str], content: bytes, timeout_seconds: float, deadline: Deadline
    ) -> Answer | Verdict:
        connect = min(CONNECT_TIMEOUT_SECONDS, timeout_seconds)
        spans = {"connect": connect, "read": timeout_seconds, "write": timeout_seconds, "pool": timeout_seconds}
        named = [("user-agent", USER_AGENT), *headers.items()]
        connection = self._connection = self._connection or self._new()
        with connection.stream("POST", url, headers=named, content=content, extensions={"timeout": spans}) as response:
            body = bytearray()
            for piece in response.iter_stream():
                body += piece
                if len(body) > MAX_ANSWER_BYTES:
                    self.close()
                    return Verdict.unconfirmed("answer_too_large", f"the answer has more than {MAX_ANSWER_BYTES} bytes")
        if deadline.fired:
            self.close()
        return _answer(response, bytes(body))

    def close(self) -> None:
        """Safe to repeat."""
        connection, self._connection = self._connection, None
        handle, self._handle = self._handle, None
        if connection is not None:
            with suppress(*TROUBLE):
                connection.close()
        if handle is not None:
            WATCHDOG.close(handle, self._deadline)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> httpcore2.NetworkStream:
        """Names and all addresses together have one timeout. What the watchdog shuts is a duplicate of the socket,
        since TLS takes the original over."""
        stream = self._first_that_answers(host, port, time.monotonic() + (timeout or CONNECT_TIMEOUT_SECONDS))
        self._handle = stream.get_extra_info("socket").dup()
        if self._deadline is not None and self._handle is not None:
            WATCHDOG.watch(self._deadline, self._handle)
        return _Unencrypted(stream)

    def _first_that_answers(self, host: str, port: int, ends_at: float) -> httpcore2.NetworkStream:
        try:
            addresses = resolve(host, port, ends_at - time.monotonic())
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(socket.gaierror(str(error))) from error
        trouble: Exception = httpcore2.ConnectTimeout("no address was tried in time")
        for address in addresses:
            if (left := ends_at - time.monotonic()) <= 0:
                break
            try:
                return httpcore2.SyncBackend().connect_tcp(address, port, timeout=left)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble

    def _new(self) -> httpcore2.HTTPConnection:
        return httpcore2.HTTPConnection(
            self._origin,
            ssl_context=self._tls,
            keepalive_expiry=IDLE_SECONDS,
            http1=False,
            http2=True,
            network_backend=self,
        )

    def _is_over(self, connection: httpcore2.HTTPConnection) -> bool:
        return connection.has_expired() or not connection.is_available() or self._peer_has_left()

    def _peer_has_left(self) -> bool:
        """Whether the connection was ended while it was idle: a request written into it would be lost, and nobody would
        know. Where the system cannot tell without reading, it may be."""
        if self._handle is None or not _ENDED:
            return False
        poll = select.poll()
        poll.register(self._handle, _ENDED)
        return bool(poll.poll(0))


class _Unencrypted(httpcore2.NetworkStream):
    """A connection before its handshake, in which HTTP/2 has to be agreed on: a server that speaks something else is
    sent nothing."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, timeout)
        if stream.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
            stream.close()
            raise httpcore2.ConnectError(NoHttp2Error())
        return stream


def _answer(response: httpcore2.Response, body: bytes) -> Answer:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    wait = parse_retry_after(headers.get("retry-after"), answered_at=headers.get("date"), now=datetime.now(UTC))
    return Answer(response.status, headers, body, wait)
