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
