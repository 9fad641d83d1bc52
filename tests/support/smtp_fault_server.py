"""An SMTP server on raw sockets that fails at the step it is told to, and counts the mails it got whole.

A script maps a step to an action, or to a list of actions for its first, second, … time (the last one stays). Steps:
`greeting`, the verbs (`EHLO`, `STARTTLS`, `AUTH`, `MAIL`, `RCPT`, `DATA`, `RSET`, `QUIT`), `content` (64 KiB of the
mail were read), `before_dot` (all the announced SIZE was read, the dot was not) and `end` (the mail is complete).
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any

CONTENT_STEP_BYTES = 65_536
END = b"\r\n.\r\n"

DEFAULTS = {
    "greeting": "220 fault.example ESMTP",
    "EHLO": "250-fault.example\r\n250-SIZE 50000000\r\n250 AUTH PLAIN LOGIN",
    "STARTTLS": "502 5.5.1 not implemented",
    "AUTH": "235 2.7.0 ok",
    "MAIL": "250 2.1.0 ok",
    "RCPT": "250 2.1.5 ok",
    "DATA": "354 go on",
    "RSET": "250 2.0.0 ok",
    "QUIT": "221 2.0.0 bye",
    "end": "250 2.0.0 Ok: queued as 4XyZ",
}


class _EndedError(Exception):
    """This connection is over."""


def drop(conversation: Conversation) -> None:
    """Close in the ordinary way (FIN)."""
    conversation.close()


def reset(conversation: Conversation) -> None:
    """Close with RST."""
    conversation.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    conversation.close()


def hang(conversation: Conversation) -> None:
    """Say nothing until the client gives up."""
    while conversation.socket.recv(65_536):
        pass
    conversation.close()


def raw(data: bytes, then: Callable[[Conversation], None] | None = None) -> Callable[[Conversation], None]:
    """Send these bytes, then go on or do `then`."""

    def act(conversation: Conversation) -> None:
        conversation.socket.sendall(data)
        if then:
            then(conversation)

    return act


def drip(data: bytes, every_seconds: float) -> Callable[[Conversation], None]:
    """Send byte by byte, for ever: the last byte is repeated."""

    def act(conversation: Conversation) -> None:
        position = 0
        while not conversation.server.stopped.wait(every_seconds):
            conversation.socket.sendall(data[position : position + 1])
            position = min(position + 1, len(data) - 1)

    return act


class SmtpFaultServer:
    """Use as a context manager.

    Attributes:
        mails: the mails that arrived whole, still dot-stuffed.
        commands: every command line, over all connections.
        connection_count: connections accepted.
        ended: set when a script's action has closed a connection.
        in_content: set when the first 354 went out.
    """

    def __init__(self, script: Mapping[str, Any] | None = None) -> None:
        self.script = {**DEFAULTS, **(script or {})}
        self.mails: list[bytes] = []
        self.commands: list[str] = []
        self.connection_count = 0
        self.ended = threading.Event()
        self.in_content = threading.Event()
        self.stopped = threading.Event()
        self._times: dict[str, int] = {}
        self._listener = socket.create_server(("127.0.0.1", 0))
        # Small, so that a mail of some megabytes fills it and the client notices that nobody reads.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        self.port = self._listener.getsockname()[1]
        self._conversations: list[Conversation] = []
        self._threads = [threading.Thread(target=self._accept, name="smtp-fault-accept")]

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def __enter__(self) -> SmtpFaultServer:
        self._threads[0].start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(5)
        self._listener.close()
        for conversation in self._conversations:
            conversation.interrupt()
        for thread in self._threads[1:]:
            thread.join(5)
            assert not thread.is_alive(), "a conversation of the fault server does not end"

    def action(self, step: str) -> Any:
        chosen = self.script.get(step)
        if isinstance(chosen, list):
            index = self._times.get(step, 0)
            self._times[step] = index + 1
            return chosen[min(index, len(chosen) - 1)]
        return chosen

    def _accept(self) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connection_count += 1
            conversation = Conversation(self, connection)
            self._conversations.append(conversation)
            thread = threading.Thread(target=conversation.run, name="smtp-fault-conversation")
            self._threads.append(thread)
            thread.start()


class Conversation:
    """One connection; `socket` is what actions play with."""

    def __init__(self, server: SmtpFaultServer, connection: socket.socket) -> None:
        self.server = server
        self.socket = connection
        self._unread = b""
        self._size = 0
        self._closing = threading.Lock()

    def run(self) -> None:
        try:
            self._do("greeting")
            while True:
                self._command(self._line())
        except (_EndedError, OSError):
            pass
        finally:
            with self._closing:
                self.socket.close()

    def close(self) -> None:
        with self._closing:
            self.socket.close()
        self.server.ended.set()
        raise _EndedError

    def interrupt(self) -> None:
        with self._closing, contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def _command(self, line: str) -> None:
        self.server.commands.append(line)
        verb = line.split(" ", 1)[0].upper()
        if verb == "MAIL" and (size := re.search(r"SIZE=(\d+)", line)):
            self._size = int(size[1])
        self._do(verb)
        if verb == "QUIT":
            raise _EndedError
        if verb == "DATA" and self.server.in_content.is_set():
            self._content()
            self._do("end")

    def _content(self) -> None:
        steps = {s for s in ("content", "before_dot") if self.server.script.get(s)}
        while END not in self._unread:
            self._receive()
            if "content" in steps and len(self._unread) >= CONTENT_STEP_BYTES:
                self._do("content")
            if "before_dot" in steps and len(self._unread) == self._size:
                self._do("before_dot")
        mail, _, self._unread = self._unread.partition(END)
        self.server.mails.append(mail + b"\r\n")

    def _do(self, step: str) -> None:
        action = self.server.action(step)
        if step == "DATA":
            self.server.in_content.clear()
        if callable(action):
            action(self)
        elif action:
            if step == "DATA" and action.startswith("354"):
                self.server.in_content.set()
            self.socket.sendall(action.encode() + b"\r\n")

    def _line(self) -> str:
        while b"\r\n" not in self._unread:
            self._receive()
        line, _, self._unread = self._unread.partition(b"\r\n")
        return line.decode()

    def _receive(self) -> None:
        data = self.socket.recv(65_536)
        if not data:
            raise _EndedError
        self._unread += data
