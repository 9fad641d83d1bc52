"""How instants that somebody has typed are read as UTC, and how instants are written."""

from __future__ import annotations

from datetime import UTC, datetime


class NoSuchTime(ValueError):
    """A time that cannot be told in UTC."""


def rfc3339(value: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the microsecond, with `Z`; None stays None."""
    return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def utc(typed: datetime) -> datetime:
    """An aware instant that somebody outside has given, in UTC.

    Raises:
        NoSuchTime: in UTC it lies outside the years 1 to 9999, which neither Python nor the tables hold.
    """
    try:
        return typed.astimezone(UTC)
    except OverflowError:
        raise NoSuchTime("there is no such time in the years 1 to 9999 of UTC") from None
