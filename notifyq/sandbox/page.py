"""The page that shows what arrived. Django's templates escape everything that a client sent."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from django.template.loader import render_to_string

from notifications.channel import Channel
from notifications.sms_segments import count
from notifyq.sandbox.magic import MEANINGS, PHONE_ENDINGS
from notifyq.sandbox.replies import Reply
from notifyq.sandbox.store import Stored
from notifyq.sandbox.vendor import Vendor
from notifyq.sandbox.weather import Weather

SHOWN_MESSAGES = 50
_NUMBERS = (
    ("latencyMs", "Latency", "ms", "1", ""),
    ("jitterMs", "Jitter", "ms", "1", ""),
    ("temporaryRate", "Temporary failures", "0 to 1", "any", "1"),
    ("permanentRate", "Rejections", "0 to 1", "any", "1"),
    ("unconfirmedRate", "Lost answers", "0 to 1", "any", "1"),
    ("rateLimitPerSecond", "Limit per second", "0 = off", "1", ""),
)
_FLAGS = (
    ("idempotency", "Honours Idempotency-Key"),
    ("lookup", "Answers look-ups by key"),
    ("down", "Down: refuses everything"),
)
# Nothing from elsewhere is loaded, no script but ours runs: the messages shown are other people's HTML.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'; script-src 'nonce-{nonce}'"
)


@dataclass(frozen=True, slots=True)
class _Row:
    message: Stored
    html_body: str
    extras: Mapping[str, str]


def render(vendor: Vendor) -> Reply:
    """The page as it stands now; its script fetches it again and exchanges only what has changed."""
    nonce = secrets.token_urlsafe(16)
    weather = vendor.weather
    context = {
        "nonce": nonce,
        "counters": vendor.store.counters(),
        "rows": [_row(message) for message in vendor.store.messages(newest=SHOWN_MESSAGES)],
        "shown_messages": SHOWN_MESSAGES,
        "is_calm": weather == Weather(),
        "weather": weather,
        "numbers": [(*number, f"{getattr(weather, number[0]):g}") for number in _NUMBERS],
        "flags": [(*flag, getattr(weather, flag[0])) for flag in _FLAGS],
        "magic": _magic(),
    }
    body = render_to_string("sandbox/page.html", context).encode("utf-8", "replace")
    headers = {"Content-Security-Policy": _POLICY.format(nonce=nonce), "Referrer-Policy": "no-referrer"}
    return Reply(200, body, "text/html; charset=utf-8", headers)


def _row(message: Stored) -> _Row:
    html_body = message.extras.get("htmlBody")
    counted = {"segments": _segments(message.body)} if message.channel == Channel.SMS else {}
    others = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in message.extras.items()
        if name != "htmlBody"
    }
    return _Row(message, html_body if isinstance(html_body, str) else "", counted | others)


def _segments(body: str) -> str:
    segments = count(body)
    return f"{segments.count} ({segments.encoding})"


def _magic() -> list[tuple[str, str, str]]:
    endings = {magic: digits for digits, magic in PHONE_ENDINGS.items()}
    return [(str(magic), endings.get(magic, ""), meaning) for magic, meaning in MEANINGS.items()]
