"""The simulated vendor's callbacks: it reports each message it has delivered, signed, to one address."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import queue
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus

import requests

from notifyq.runtime.identity import USER_AGENT
from notifyq.sandbox.store import Stored

BATCH = 100
TRIES = 8
_TIMEOUT_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 0.2

logger = logging.getLogger(__name__)
Due = tuple[float, Stored]


class Reporter:
    """One thread. What it has not reported when the process ends is never reported, as with many a vendor.

    Args:
        url: where to report to.
        secret: what the reports are signed with.
    """

    def __init__(self, url: str, secret: str) -> None:
        self._url = url
        self._secret = secret.encode()
        self._waiting: queue.SimpleQueue[Due] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="reporter", daemon=True).start()

    def report(self, message: Stored, after_seconds: float) -> None:
        """Report it as delivered, not before so many seconds have passed."""
        self._waiting.put((time.monotonic() + after_seconds, message))

    def _run(self) -> None:
        while True:
            due_at, message = self._waiting.get()
            time.sleep(max(0.0, due_at - time.monotonic()))
            self._post_until_taken([message, *self._others_that_are_due()])

    def _others_that_are_due(self) -> list[Stored]:
        found: list[Stored] = []
        while len(found) < BATCH - 1 and not self._waiting.empty():
            due_at, message = self._waiting.get()
            if due_at > time.monotonic():
                self._waiting.put((due_at, message))
                break
            found.append(message)
        return found

    def _post_until_taken(self, messages: Sequence[Stored]) -> None:
        at = datetime.now(UTC).isoformat()
        body = json.dumps([_event(message, at) for message in messages]).encode()
        for number in range(TRIES):
            if self._is_taken(body):
                return
            time.sleep(_FIRST_PAUSE_SECONDS * 2**number)
        logger.warning("sandbox_reports_dropped", extra={"count": len(messages)})

    def _is_taken(self, body: bytes) -> bool:
        timestamp = str(int(time.time()))
        signature = hmac.new(self._secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            "X-Sandbox-Timestamp": timestamp,
            "X-Sandbox-Signature": signature,
        }
        try:
            answer = requests.post(self._url, data=body, headers=headers, timeout=_TIMEOUT_SECONDS)
        except requests.RequestException:
            return False
        return answer.status_code == HTTPStatus.OK


def _event(message: Stored, at: str) -> dict[str, str]:
    return {
        "id": f"{message.id}:delivered",
        "key": message.key,
        "messageId": message.id,
        "status": "DELIVERED",
        "at": at,
    }
