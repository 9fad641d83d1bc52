"""What the simulated vendor says, and how: answered, held for ever, or cut off. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from http import HTTPStatus
from typing import Any

PROBLEM = "application/problem+json"


class Manner(Enum):
    """How a reply goes out."""

    ANSWER = auto()
    HOLD = auto()
    """No byte is sent until the client gives up."""
    CUT = auto()
    """The connection is closed without a byte."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. `delay_seconds` holds it back."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = Manner.ANSWER
    delay_seconds: float = 0.0

    def after(self, delay_seconds: float) -> Reply:
        return replace(self, delay_seconds=delay_seconds)


def document(content: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def accepted(message_id: str) -> Reply:
    return document({"messageId": message_id}, 202)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    errors: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """A problem+json reply (RFC 9457) whose `code` says what a program may conclude from it."""
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if errors:
        content["errors"] = [{"field": name, "code": "invalid", "message": text} for name, text in errors.items()]
    return Reply(status, json.dumps(content).encode(), PROBLEM, headers or {})


def not_accepted(detail: str) -> Reply:
    """The one refusal that is certainly not an acceptance and may succeed later."""
    return problem(503, "not_accepted", detail)


def throttled() -> Reply:
    return problem(429, "rate_limited", "Too many requests.", headers={"Retry-After": "1"})


HOLD = Reply(manner=Manner.HOLD)
CUT = Reply(manner=Manner.CUT)

_DEEP = b'{"messageId":' + b"[" * 100_000
_POISONS = (
    # Deeper than any recursive parser goes, in an encoding that it is not, with numbers that are none.
    Reply(202, _DEEP, "application/json; charset=utf-16", {"Retry-After": "9" * 400, "Date": "\xff\xfe never"}),
    Reply(202, b'{"messageId": "\xff\xfe\xc3("}', "application/json; charset=no-such-charset"),
    Reply(200, b'{"messageId": {"messageId": [null, 1e999]}, "status": []}'),
    Reply(202, b'{"messageId": "\\ud800\\u0000"}', headers={"Retry-After": "NaN"}),
    Reply(202, b"\x1f\x8b not gzip at all", headers={"Content-Encoding": "gzip"}),
    Reply(503, b'["not_accepted"]', PROBLEM, {"Retry-After": "-1"}),
    Reply(200, b'{"messageId": "' + b"A" * (8 * 1024 * 1024) + b'"}'),
)


def poison(nth: int) -> Reply:
    """The `nth` poisonous answer (1 for the first); they go round. None of them is proof of anything."""
    return _POISONS[(nth - 1) % len(_POISONS)]
