"""A peer that fails in a chosen way, on raw sockets: what an HTTP library makes of it is what is being tested."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)


class Peer:
    """The failing side of one connection."""

    def __init__(self, server: FaultServer, connection: socket.socket) -> None:
        self._server = server
        self._connection = connection

    def read_request(self) -> bytes:
        """Read one whole request and count it; empty when the client has left."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self._connection.recv(65_536)
            if not piece:
                return b""
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        while length and len(body) < int(length[1]):
            body += self._connection.recv(65_536)
        self._server.requests.append(head + b"\r\n\r\n" + body)
        return data

    def receive(self) -> bytes:
        """What has arrived; empty when the client has left."""
        return self._connection.recv(65_536)

    def count(self, request: bytes) -> None:
        """Count a request that was read in another way."""
        self._server.requests.append(request)

    def wait_for_data(self) -> None:
        """Return when something has arrived, and leave it unread."""
        self._connection.recv(1, socket.MSG_PEEK)

    def send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def drip(self, data: bytes, every_seconds: float = 0.05) -> None:
        """Send byte by byte, for ever."""
        while True:
            for byte in data:
                self.send(bytes([byte]))
                if self._server.stopping.wait(every_seconds):
                    return

    def close(self) -> None:
        """Close in good order, and at once (the descriptor alone would stay open in the list of the server)."""
        self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def finish(self) -> None:
        """Say nothing more, but listen until the client leaves, so that it reads all that was said."""
        self._connection.shutdown(socket.SHUT_WR)
        self.wait_until_gone()

    def reset(self) -> None:
        """Close with an RST."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._connection.close()

    def wait_until_gone(self) -> None:
        """Say nothing until the client gives up."""
        while self._connection.recv(65_536):
            pass


Script = Callable[[Peer], None]


class FaultServer:
    """Runs `script` for every connection.

    Attributes:
        requests: the complete requests that were read, over all connections.
        connections: how many were made.
    """

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None, *, port: int = 0) -> None:
        self._script = script
        self._tls = tls
        self.requests: list[bytes] = []
        self.connections = 0
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> FaultServer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self.stopping.is_set():
                connection, _ = self._listener.accept()
                self.connections += 1
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        self._open.add(connection)
        with contextlib.suppress(OSError):
            spoken = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            self._open.add(spoken)
            with spoken:
                self._script(Peer(self, spoken))
        connection.close()


def closed_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that answers no SYN: its queue of connections is full and nobody accepts."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as stack:
        port = listener.getsockname()[1]
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0.2)
            try:
                waiting.connect(("127.0.0.1", port))
            except TimeoutError:
                break
        else:
            raise RuntimeError("the queue of connections does not fill up on this system")
        yield port
