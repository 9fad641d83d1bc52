"""One entry of a notification's story. Pure, no database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from notifications.story.said import Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What happened at one instant.

    Attributes:
        badge: a word and its tone, see `notifyq.console.badge`.
        facts: label and value, in the order to be shown.
        excerpt: text from outside, perhaps of many lines; private.
        address: where more is shown of it.
    """

    at: datetime
    title: Said
    badge: tuple[str, str] | None = None
    facts: tuple[tuple[str, Said], ...] = ()
    excerpt: str = ""
    address: str = ""


def in_order(moments: Iterable[Moment]) -> list[Moment]:
    """The oldest first; those of one instant in the order in which they were given."""
    return sorted(moments, key=lambda moment: moment.at)


def told(*facts: tuple[str, str | None]) -> tuple[tuple[str, Said], ...]:
    """Those of the facts that have a value."""
    return tuple((label, (value,)) for label, value in facts if value)
