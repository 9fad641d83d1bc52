"""The first notification of each channel, sent like any client would: over HTTP."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import requests

_TEXTS: Mapping[str, Mapping[str, str]] = {
    "EMAIL": {
        "subject": "Your first e-mail",
        "body": "Hello! This went through the queue to the sandbox provider.",
    },
    "SMS": {"body": "Your first SMS went through the queue."},
    "PUSH": {"subject": "Your first push", "body": "It went through the queue."},
    "IN_APP": {"subject": "Your first entry in an inbox", "body": "It went through the queue."},
}
RECIPIENT_PREFIXES = ("first-", "fcm:first-", "+1202555")
"""How those begin that `sample` makes up: nobody has such an address, and these telephone numbers are for fiction."""
_FINAL = frozenset({"SENT", "FAILED", "DEAD_LETTERED", "CANCELLED", "EXPIRED"})
# A pause or a full rate limit may last for hours: nobody at a terminal waits for that.
_LASTING = frozenset({"RATE_LIMITED", "PAUSED"})
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

        It is not followed any further when it has to wait for a rate limit or for the end of a pause.

        Raises:
            KeyRefused, Unexpected, requests.RequestException
        """
        created = self._call("POST", "/api/v1/notifications", sample(channel), key=f"demo-first-{uuid.uuid4()}")
        shown = created
        for _ in range(int(_WAIT_SECONDS / _LOOK_SECONDS)):
            shown = self._call("GET", f"/api/v1/notifications/{created['id']}")
            if shown["status"] in _FINAL or shown.get("waitingReason") in _LASTING:
                break
            self.wait(_LOOK_SECONDS)
        return shown

    def send_all(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        """Create many, each with the `idempotencyKey` in it; follows none of them.

        Raises:
            KeyRefused, Unexpected, requests.RequestException
        """
        answer = self._call("POST", "/api/v1/notifications/batch", {"notifications": bodies})
        for result in answer["results"]:
            if problem := result.get("problem"):
                raise Unexpected(f"notification {result['index']} of a batch was refused: {problem}")

    def add_webhook(self, url: str, description: str) -> None:
        """Have the client told of outcomes at this address.

        Raises:
            KeyRefused, Unexpected, requests.RequestException
        """
        self._call("POST", "/api/v1/webhook-endpoints", {"url": url, "description": description})

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.api_key}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        with local_session() as session:
            answer = session.request(method, self.base_url + path, json=body, headers=headers, timeout=_HTTP_SECONDS)
        if answer.status_code == requests.codes.unauthorized:
            raise KeyRefused
        if not answer.ok:
            raise Unexpected(f"{method} {path} answered {answer.status_code}: {answer.text[:300]}")
        result: dict[str, Any] = answer.json()
        return result


def sample(channel: str) -> dict[str, str]:
    """A request body. Its recipient is a new one each time, or the starts of an hour would share one rate limit."""
    return {"channel": channel, "recipient": _new_recipient(channel), **_TEXTS[channel]}


def _new_recipient(channel: str) -> str:
    """One that means nothing special to the sandbox: phone numbers from …0001 to …0009 do."""
    unique = secrets.token_hex(4)
    fictitious = f"+1202555{1000 + secrets.randbelow(9000)}"
    return {
        "EMAIL": f"first-{unique}@example.com",
        "SMS": fictitious,
        "PUSH": f"fcm:first-{unique}",
        "IN_APP": f"first-{unique}",
    }[channel]


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
    words.append(_ending(shown, stored))
    error = shown.get("lastError") or {}
    return [*words, f"{error.get('code')}: {error.get('message')}"] if error else words


def _ending(shown: Mapping[str, Any], stored: datetime) -> str:
    if shown["status"] in _FINAL:
        return f"{shown['status']} after {_since(stored, shown.get('finishedAt'))}"
    reason = shown.get("waitingReason")
    until = f" because of {reason}, until {shown['dueAt']} or later" if reason else ""
    return f"still {shown['status']}{until}"


def _since(start: datetime, end: str | None) -> str:
    return "?" if end is None else f"{(_instant(end) - start).total_seconds() * 1000:.0f} ms"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
