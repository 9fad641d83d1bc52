"""A webhook receiver on the loopback interface that answers as it is told and remembers what it got."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


@dataclass(frozen=True)
class Received:
    """One request; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: str

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    def verify(self, secret: str) -> Any:
        """The document, when the reference library finds the signature good."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b"ok"
    headers: tuple[tuple[str, str], ...] = ()


class Receiver:
    """Serves until the block ends.

    Args:
        answer: asked for each request, in the thread that serves it: it may wait for something.
    """

    def __init__(self, answer: Callable[[Received], Answer] = lambda request: Answer()) -> None:
        self.answer = answer
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._requests: list[Received] = []
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    @property
    def requests(self) -> list[Received]:
        with self._lock:
            return list(self._requests)

    def wait_for_count(self, count: int, seconds: float) -> None:
        """Wait until at least so many were received; fails after so many seconds."""
        with self._changed:
            enough = self._changed.wait_for(lambda: len(self._requests) >= count, seconds)
            assert enough, f"{len(self._requests)} of {count} received"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                raw = self.rfile.read(length)
                if len(raw) < length:  # the caller died in the middle
                    self.close_connection = True
                    return
                request = Received(self.path, {k.lower(): v for k, v in self.headers.items()}, raw.decode())
                with receiver._changed:
                    receiver._requests.append(request)
                    receiver._changed.notify_all()
                answer = receiver.answer(request)
                self.send_response(answer.status)
                for name, value in (*answer.headers, ("Content-Length", str(len(answer.body)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """The caller has hung up: that is part of some tests."""
