"""A place in the list of the undelivered, which runs from the latest to the longest ago. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DIGITS_MOST = 17


@dataclass(frozen=True, slots=True)
class Place:
    """Beside one row, and which way to read on. Steady while rows come and go.

    Attributes:
        older: towards those that ended longer ago.
    """

    finished_at: datetime
    id: UUID
    older: bool = True

    def encode(self) -> str:
        """For an address: `o1764523800000000.01a2…`, microseconds since 1970."""
        return f"{'o' if self.older else 'n'}{(self.finished_at - _EPOCH) // _MICROSECOND}.{self.id.hex}"

    @classmethod
    def decode(cls, text: str) -> Place | None:
        """None for anything that `encode` did not make."""
        way, number, (_, _, identity) = text[:1], text[1:].partition(".")[0], text.partition(".")
        if way not in ("o", "n") or not (number.isascii() and number.isdigit() and len(number) <= _DIGITS_MOST):
            return None
        try:
            return cls(_EPOCH + int(number) * _MICROSECOND, UUID(hex=identity), way == "o")
        except (ValueError, OverflowError):
            return None
