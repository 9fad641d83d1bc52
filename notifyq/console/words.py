"""Small pieces of a page: states as words on a ground, instants in the reader's own zone."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString


def badge(text: str, tone: str) -> SafeString:
    """A word on a coloured ground: the word says it, the colour only helps to find it.

    Args:
        tone: `good`, `bad`, `wait`, `busy` or `quiet` (see console.css).
    """
    return format_html('<span class="nq-badge nq-{}">{}</span>', tone, text)


def instant(at: datetime | None) -> SafeString | str:
    """An instant: UTC as it leaves here; console.js shows it in the reader's zone, and UTC on hover."""
    if at is None:
        return "-"
    utc = at.astimezone(UTC)
    shown = utc.strftime("%Y-%m-%d %H:%M:%S")
    return format_html(
        '<time class="nq-time" datetime="{}" title="{} UTC">{} UTC</time>', utc.isoformat(), shown, shown
    )


def masked(address: str) -> str:
    """An address as somebody sees it who may not know it: enough to tell two apart, too little to use.

    `ada@example.org` → `a…@example.org`, `+41790000123` → `+41…23`, `fcm:long-token` → `fcm:…en`.
    """
    if "@" in address:
        name, _, domain = address.rpartition("@")
        return f"{name[:1]}…@{domain}"
    kind, colon, rest = address.partition(":")
    if colon:
        return f"{kind}:…{rest[-2:] if len(rest) > 4 else ''}"
    return f"{address[:3]}…{address[-2:]}" if len(address) > 6 else "…"
