"""The simulated vendor's HTTP server: one thread per connection, kept alive; no request can end the process."""

from __future__ import annotations

import json
import logging
import re
import select
import socket
import socketserver
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, NoReturn, cast
from urllib.parse import parse_qs, urlsplit

from notifyq.sandbox import page, replies
from notifyq.sandbox.replies import Manner, Reply
from notifyq.sandbox.vendor import Vendor
from notifyq.sandbox.weather import Weather, WeatherError

MAX_BODY_BYTES = 4 * 1024 * 1024
IDLE_SECONDS = 600
_LENGTH = re.compile(r"[0-9]{1,12}")
_LATIN_1 = "latin-1"  # what HTTP/1.1 header bytes are read and written as

logger = logging.getLogger(__name__)


class SandboxServer(socketserver.ThreadingTCPServer):
    """Serves `vendor` on `address` once `serve_forever` runs; the port is taken when the constructor returns."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024  # a whole fleet of workers may connect in the same instant

    def __init__(self, host: str, port: int, *, listening: socket.socket | None = None) -> None:
        """Take the port, or take over a socket that listens already.

        Raises:
            OSError: the address is in use or not ours.
        """
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.stopping = threading.Event()
        self.vendor: Vendor
        super().__init__((host, port), _Handler, bind_and_activate=listening is None)
        if listening is not None:
            self.socket.close()
            self.socket, self.server_address = listening, listening.getsockname()

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        name = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"

    def stop(self) -> None:
        """End `serve_forever` and every answer that is held back. Not to be called from the serving thread."""
        self.stopping.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        logger.debug("sandbox_connection_lost", extra={"reason": repr(sys.exception())})


class _EarlyReplyError(Exception):
    """Ends a request early with a reply."""

    def __init__(self, reply: Reply, *, close: bool = False) -> None:
        self.reply = reply
        self.close = close
        super().__init__()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "NotifyQueueSandbox"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    @property
    def _server(self) -> SandboxServer:
        return cast(SandboxServer, self.server)

    def handle_any(self) -> None:
        """Answer the request that was read; whatever goes wrong is an answer too."""
        try:
            reply = self._route()
        except _EarlyReplyError as early:
            self.close_connection = self.close_connection or early.close
            reply = early.reply
        except OSError:
            raise
        except Exception:  # the top of a request: a fault in it must not take the connections of others along
            logger.exception("sandbox_request_failed")
            reply = replies.problem(500, "internal_error", "The sandbox provider has a fault.")
        self._deliver(reply)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = handle_any  # noqa: N815

    def _route(self) -> Reply:
        try:
            parts = urlsplit(self.path)
        except ValueError:
            raise _EarlyReplyError(replies.problem(400, "malformed", "The address is not one."), close=True) from None
        methods = _ROUTES.get(parts.path.rstrip("/") or "/")
        body = self._read_body(counted=self.command == "POST" and methods is _ROUTES["/messages"])
        if methods is None:
            return replies.problem(404, "not_found", "There is nothing at this address.")
        if self.command not in methods:
            allowed = {"Allow": ", ".join(sorted(methods))}
            return replies.problem(405, "method_not_allowed", "This address does not do that.", headers=allowed)
        return methods[self.command](self._server.vendor, self, body, parts.query)

    def _read_body(self, *, counted: bool) -> bytes:
        declared = self.headers.get("Content-Length", "0").strip()
        if "Transfer-Encoding" in self.headers:
            self._refuse_unread(411, "length_required", "A Content-Length is required.", counted=counted)
        if not _LENGTH.fullmatch(declared):
            self._refuse_unread(400, "malformed", "The Content-Length is not a number.", counted=counted)
        if int(declared) > MAX_BODY_BYTES:
            self._refuse_unread(413, "too_large", f"The body may have {MAX_BODY_BYTES} bytes.", counted=counted)
        body = self.rfile.read(int(declared))
        if len(body) < int(declared):
            raise ConnectionAbortedError("the client left in the middle of its request")
        return body

    def _refuse_unread(self, status: int, code: str, detail: str, *, counted: bool) -> NoReturn:
        if counted:
            self._server.vendor.count_unreadable()
        raise _EarlyReplyError(replies.problem(status, code, detail), close=True)

    def _deliver(self, reply: Reply) -> None:
        if reply.delay_seconds:
            self._server.stopping.wait(reply.delay_seconds)
        if reply.manner is Manner.HOLD:
            self._wait_until_the_client_leaves()
        if reply.manner is Manner.ANSWER:
            self.wfile.write(self._head(reply) + (b"" if self.command == "HEAD" else reply.body))
        else:
            self.close_connection = True

    def _head(self, reply: Reply) -> bytes:
        headers = {
            "Date": self.date_time_string(),
            **(
                {"Content-Type": reply.content_type, "Content-Length": str(len(reply.body))}
                if reply.status != 204
                else {}
            ),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **reply.headers,
        }
        if self.close_connection:
            headers["Connection"] = "close"
        lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode(_LATIN_1)

    def _wait_until_the_client_leaves(self) -> None:
        poll = select.poll()  # not select(): a busy server has more descriptors than that can count
        poll.register(self.connection, select.POLLIN | select.POLLHUP)
        while not self._server.stopping.is_set():
            if poll.poll(250) and not self.connection.recv(65_536):
                return

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class calls for a request that cannot be parsed."""
        self.close_connection = True
        self.command = getattr(self, "command", None) or ""
        self._deliver(replies.problem(code, "malformed", message or "The request cannot be understood."))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a line for each request would drown what a person wants to see, and hold recipients."""


_Action = Callable[[Vendor, _Handler, bytes, str], Reply]


def _json(body: bytes) -> object:
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _EarlyReplyError(replies.problem(400, "malformed", "The body is not valid JSON.")) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _post_message(vendor: Vendor, request: _Handler, body: bytes, _query: str) -> Reply:
    try:
        content = _json(body)
    except _EarlyReplyError:
        vendor.count_unreadable()
        raise
    return vendor.receive(request.headers.get("Idempotency-Key", "").strip(), content)


def _get_messages(vendor: Vendor, _request: _Handler, _body: bytes, query: str) -> Reply:
    asked = parse_qs(query, keep_blank_values=True)
    if "key" in asked:
        return vendor.look_up(asked["key"][0])
    messages = [
        {
            **message.extras,
            "messageId": message.id,
            "key": message.key,
            "channel": message.channel,
            "recipient": message.recipient,
            "subject": message.subject,
            "body": message.body,
            "acceptedAt": message.accepted_at,
            "repeats": message.repeats,
        }
        for message in vendor.store.messages()
    ]
    return replies.document({"messages": messages})


def _delete_messages(vendor: Vendor, _request: _Handler, _body: bytes, _query: str) -> Reply:
    vendor.empty()
    return Reply(204)


def _get_stats(vendor: Vendor, _request: _Handler, _body: bytes, _query: str) -> Reply:
    counters = vendor.store.counters()
    stats = {"requests": counters.requests, "accepted": counters.accepted, "repeats": counters.repeats}
    return replies.document(stats)


def _get_behaviour(vendor: Vendor, _request: _Handler, _body: bytes, _query: str) -> Reply:
    return replies.document(vendor.weather.document())


def _put_behaviour(vendor: Vendor, _request: _Handler, body: bytes, _query: str) -> Reply:
    try:
        weather = Weather.parse(_json(body))
    except WeatherError as error:
        return replies.problem(400, "invalid_behaviour", str(error).strip(), errors=error.errors)
    vendor.set_weather(weather)
    return replies.document(weather.document())


def _get_page(vendor: Vendor, _request: _Handler, _body: bytes, _query: str) -> Reply:
    return page.render(vendor)


_ROUTES: dict[str, dict[str, _Action]] = {
    "/": {"GET": _get_page, "HEAD": _get_page},
    "/messages": {"POST": _post_message, "GET": _get_messages, "DELETE": _delete_messages},
    "/stats": {"GET": _get_stats},
    "/behaviour": {"GET": _get_behaviour, "PUT": _put_behaviour},
}
