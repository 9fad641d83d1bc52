"""A mail server nobody here wrote (aiosmtpd), in threads of its own, that keeps what it accepts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from typing import Any

from aiosmtpd.controller import Controller


class Mailbag:
    """Keeps the Message-ID of each mail it accepts, after a while in which its sender waits for the answer."""

    def __init__(self, latency_seconds: float) -> None:
        self._latency_seconds = latency_seconds
        self.message_ids: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.message_ids.append(message_from_bytes(envelope.content, policy=policy.default)["Message-ID"])
        await asyncio.sleep(self._latency_seconds)
        return "250 2.0.0 kept"


@contextmanager
def mail_server(latency_seconds: float = 0.0) -> Iterator[tuple[Mailbag, str]]:
    """The bag and the URL of a running server."""
    bag = Mailbag(latency_seconds)
    with socket.create_server(("127.0.0.1", 0)) as free:  # the controller cannot choose a port itself
        port = free.getsockname()[1]
    controller = Controller(bag, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield bag, f"smtp://127.0.0.1:{port}"
    finally:
        controller.stop()
