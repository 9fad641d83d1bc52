"""What one look came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is."""

    OK = "OK"
    WARN = "WARN"
    """It works, but not as somebody may expect."""
    FAIL = "FAIL"
    """Notifications are not accepted or not delivered, or will not be."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `text` says what is so and, unless all is well, what to do; no secret, no address."""

    level: Level
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.level:<4}  {self.name}: {self.text}"


def ok(name: str, text: str) -> Finding:
    return Finding(Level.OK, name, text)


def warn(name: str, text: str) -> Finding:
    return Finding(Level.WARN, name, text)


def fail(name: str, text: str) -> Finding:
    return Finding(Level.FAIL, name, text)
