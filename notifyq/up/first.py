"""The first notification of each channel, sent like any client would: over HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import requests

SAMPLES: Mapping[str, Mapping[str, str]] = {
    "EMAIL": {
        "recipient": "ok@example.com",
        "subject": "Your first e-mail",
        "body": "Hello! This went through the queue to the sandbox provider.",
    },
    "SMS": {"recipient": "+12025550123", "body": "Your first SMS went through the queue."},
    "PUSH": {"recipient": "fcm:ok", "subject": "Your first push", "body": "It went through the queue."},
}
_FINAL = frozenset({"SENT", "FAILED", "DEAD_LETTERED", "CANCELLED", "EXPIRED"})
_WAIT_SECONDS = 30
_LOOK_SECONDS = 0.03
_HTTP_SECONDS = 10


class KeyRefused(Exception):
    """The API does not know the key: it was made for another database, or revoked."""


class Unexpected(Exception):
    """The API answered something else than it should; the text says what."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client of the API. `wait(seconds)` is called between two looks and may raise to give up."""

    base_url: str
    api_key: str
    wait: Callable[[float], None]

    def send(self, channel: str) -> dict[str, Any]:
        """Create the sample notification of a channel and follow it to its end; returns its last answer.

        Raises:
            KeyRefused, Unexpected, requests.RequestException
        """
        created = self._call("POST", "/api/v1/notifications", {"channel": channel, **SAMPLES[channel]})
        shown = created
        for _ in range(int(_WAIT_SECONDS / _LOOK_SECONDS)):
            shown = self._call("GET", f"/api/v1/notifications/{created['id']}")
            if shown["status"] in _FINAL:
                break
            self.wait(_LOOK_SECONDS)
        return shown

    def _call(self, method: str, path: str, body: Mapping[str, str] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.api_key}"}
        if body is not None:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        with local_session() as session:
            answer = session.request(method, self.base_url + path, json=body, headers=headers, timeout=_HTTP_SECONDS)
        if answer.status_code == requests.codes.unauthorized:
            raise KeyRefused
        if not answer.ok:
            raise Unexpected(f"{method} {path} answered {answer.status_code}: {answer.text[:300]}")
        result: dict[str, Any] = answer.json()
        return result


def local_session() -> requests.Session:
    """A session for addresses on this machine: no proxy, no netrc."""
    session = requests.Session()
    session.trust_env = False
    return session


def steps(shown: Mapping[str, Any]) -> list[str]:
    """A notification's way in words with milliseconds since it was stored, by the database's clock."""
    stored = _instant(shown["createdAt"])
    words = ["stored"]
    for attempt in shown.get("attempts") or []:
        provider = attempt.get("provider") or "a provider"
        words.append(f"handed to {provider} after {_since(stored, attempt.get('startedAt'))}")
    words.append(f"{shown['status']} after {_since(stored, shown.get('finishedAt'))}")
    error = shown.get("lastError") or {}
    return [*words, f"{error.get('code')}: {error.get('message')}"] if error else words


def _since(start: datetime, end: str | None) -> str:
    return "?" if end is None else f"{(_instant(end) - start).total_seconds() * 1000:.0f} ms"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
