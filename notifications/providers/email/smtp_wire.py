"""One SMTP connection as bytes: commands out, replies in, all under one deadline."""

from __future__ import annotations

import contextlib
import queue
import re
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

REPLY_LINE_MAX_BYTES = 4096  # RFC 5321 §4.5.3.1.5 says 512; some servers put a whole policy into one line
REPLY_MAX_BYTES = 65_536
CHUNK_BYTES = 65_536

_LINE = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)
_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?:\s+|$)")


class GarbledReplyError(Exception):
    """The server's bytes are not an SMTP reply, or came when none was due."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """An instant on the monotonic clock."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    def remaining_seconds(self) -> float:
        """More than nothing.

        Raises:
            TimeoutError: it has passed.
        """
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the whole call is over")
        return left

    def share(self, parts: int) -> Deadline:
        """A nearer deadline that leaves time for `parts - 1` more tries."""
        return Deadline.after(self.remaining_seconds() / parts)


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete reply. `enhanced` is the RFC 3463 code of the same class, or empty; `lines` may hold anything."""

    code: int
    enhanced: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.lines)

    @property
    def kind(self) -> int:
        return self.code // 100

    @property
    def error_code(self) -> str:
        return f"smtp_{self.code}_{self.enhanced}" if self.enhanced else f"smtp_{self.code}"


def connect(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first address that answers; each has an equal share of the time left.

    Raises:
        OSError: no address answered (`socket.gaierror`: there is none; `TimeoutError`: no time left).
    """
    addresses = _resolve(host, port, deadline)
    failure: OSError = OSError("the name has no address")
    for index, (family, kind, protocol, _, address) in enumerate(addresses):
        connection = socket.socket(family, kind, protocol)
        try:
            # Command and reply alternate, so waiting to fill a packet (Nagle) would only cost 40 ms a message.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(deadline.share(len(addresses) - index).remaining_seconds())
            connection.connect(address)
            return connection
        except OSError as error:
            connection.close()
            failure = error
    raise failure


class Wire:
    """A connected socket and what was read from it too early. Not for several threads at once."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._socket = connection
        self._unread = b""
        self.deadline = deadline

    @property
    def local_host(self) -> str:
        return str(self._socket.getsockname()[0])

    def send(self, data: bytes) -> None:
        """Hand everything to the kernel.

        Raises:
            OSError: it could not all be handed over in time; some of it may have gone.
        """
        view = memoryview(data)
        while view:
            # Set anew each time: the timeout of a TLS socket counts per call, the deadline for all of them.
            self._socket.settimeout(self.deadline.remaining_seconds())
            view = view[self._socket.send(view[:CHUNK_BYTES]) :]

    def read_reply(self) -> Reply:
        """Read one reply, all its lines.

        Raises:
            OSError: the connection ended before the reply did, or the deadline passed.
            GarbledReplyError: these bytes are no reply.
        """
        code, texts, size = 0, [], 0
        while True:
            line = self._read_line()
            size += len(line)
            match = _LINE.fullmatch(line)
            if not match or size > REPLY_MAX_BYTES or code not in (0, int(match[1])):
                raise GarbledReplyError("not an SMTP reply")
            code = int(match[1])
            texts.append((match[3] or b"").decode("utf-8", "replace"))
            if match[2] != b"-":
                return _reply(code, texts)

    def check_nothing_early(self) -> None:
        """Make sure that the next bytes will answer the next command.

        Raises:
            GarbledReplyError: something is there already; `read_reply` reads it.
            OSError: the connection is closed.
        """
        if not self._unread:
            self._socket.settimeout(0)
            with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError):
                self._receive()
        if self._unread:
            raise GarbledReplyError("a reply came before its command")

    def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Encrypt from here on.

        Raises:
            OSError: `ssl.SSLCertVerificationError` when the server is not who it should be, others for the rest.
            GarbledReplyError: something was sent in clear behind the answer to STARTTLS, by whoever (CVE-2011-0411).
        """
        if self._unread:
            raise GarbledReplyError("bytes in clear before the TLS handshake")
        self._socket.settimeout(self.deadline.remaining_seconds())
        self._socket = context.wrap_socket(self._socket, server_hostname=host)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()

    def _read_line(self) -> bytes:
        while b"\n" not in self._unread:
            if len(self._unread) > REPLY_LINE_MAX_BYTES:
                raise GarbledReplyError("the line does not end")
            self._socket.settimeout(self.deadline.remaining_seconds())
            self._receive()
        line, _, self._unread = self._unread.partition(b"\n")
        return line.removesuffix(b"\r")

    def _receive(self) -> None:
        data = self._socket.recv(4096)
        if not data:
            raise ConnectionResetError("closed by the server")
        self._unread += data


@lru_cache(maxsize=64)
def tls_context(ca_file: str, *, verify: bool) -> ssl.SSLContext:
    """A client context; kept, since loading the system's authorities takes longer than a send.

    Raises:
        OSError: the file cannot be read or holds no certificate.
    """
    context = ssl.create_default_context(cafile=ca_file or None)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _reply(code: int, texts: list[str]) -> Reply:
    enhanced = ""
    for index, text in enumerate(texts):
        match = _ENHANCED.match(text)
        if match and match[1][0] == str(code)[0]:
            enhanced = enhanced or match[1]
            texts[index] = text[match.end() :]
    return Reply(code, enhanced, tuple(texts))


def _resolve(host: str, port: int, deadline: Deadline) -> list[Any]:
    """`getaddrinfo` within the deadline: it has no timeout of its own, so a name is looked up in a thread."""
    with contextlib.suppress(socket.gaierror, UnicodeError):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    answers: queue.SimpleQueue[list[Any] | OSError] = queue.SimpleQueue()
    threading.Thread(target=_look_up, args=(host, port, answers), name="smtp-resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.remaining_seconds())
    except queue.Empty:
        raise TimeoutError("the name was not resolved in time") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _look_up(host: str, port: int, answers: queue.SimpleQueue[list[Any] | OSError]) -> None:
    try:
        answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except OSError as error:
        answers.put(error)
    except UnicodeError:  # a label of more than 63 characters
        answers.put(socket.gaierror(socket.EAI_NONAME, "not a host name"))
