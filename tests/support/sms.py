"""Text messages, and vendors that answer one thing after another."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from notifications.channel import Channel
from notifications.providers.base import Message
from tests.support.fault_server import Peer, Script

SENDER = "+14155550100"
RECIPIENT = "+4915112345678"
BODY = "private body text"
MESSAGE = Message(
    id=UUID("01890a5d-ac96-774b-bcce-b302099a8057"),
    channel=Channel.SMS,
    recipient=RECIPIENT,
    body=BODY,
    serial=2_147_483_647,
)
SINCE = datetime.now(UTC) - timedelta(hours=2)


def answer(status: int, document: Any, **headers: str) -> bytes:
    body = json.dumps(document).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def in_turn(*answers: bytes) -> Script:
    """One answer to each request, over all connections; then none."""
    left = list(answers)

    def script(peer: Peer) -> None:
        while peer.read_request() and left:
            peer.send(left.pop(0))

    return script


def target(request: bytes) -> tuple[str, str, dict[str, str]]:
    """The method, the path and the query of a request."""
    method, address, _ = request.decode().split(" ", 2)
    parts = urlsplit(address)
    return method, parts.path, {name: values[-1] for name, values in parse_qs(parts.query).items()}


def body_of(request: bytes) -> str:
    return request.partition(b"\r\n\r\n")[2].decode()


def header_of(request: bytes, name: str) -> str:
    head = request.partition(b"\r\n\r\n")[0].decode()
    return dict(line.split(": ", 1) for line in head.split("\r\n")[1:])[name]


def http_date(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)
