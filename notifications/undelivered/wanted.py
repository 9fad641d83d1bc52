"""What a list of the undelivered is narrowed to. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from notifications.outcome import UNCONFIRMED
from notifications.status import Status

UNDELIVERED = (Status.DEAD_LETTERED, Status.FAILED)
NONE = "-"
"""Stands for no provider and no error code, where empty means any."""

MAY_HAVE_BEEN_SENT = f"(last_error_code = '{UNCONFIRMED}' OR unconfirmed_provider <> '')"
"""In SQL; the same as `notifications.queue.retry.MAY_HAVE_BEEN_SENT`."""


class Kind(StrEnum):
    """Which of the undelivered."""

    DEAD = "dead"
    """Dead letters, with those that are held."""
    HELD = "unconfirmed"
    """Dead letters that may have been sent."""
    FAILED = "failed"
    """Refused for good."""
    ALL = "all"

    @property
    def statuses(self) -> tuple[Status, ...]:
        match self:
            case Kind.ALL:
                return UNDELIVERED
            case Kind.FAILED:
                return (Status.FAILED,)
        return (Status.DEAD_LETTERED,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """None means any.

    Attributes:
        provider: the one of the last attempt; `NONE` for those that were never tried.
        error_code: of the last attempt; `NONE` for those without.
        after, before: of `finished_at`, inclusive and exclusive.
        ids: no others than these.
    """

    kind: Kind = Kind.DEAD
    channel: str | None = None
    provider: str | None = None
    error_code: str | None = None
    client_id: UUID | None = None
    after: datetime | None = None
    before: datetime | None = None
    ids: Collection[UUID] | None = None

    def window(self) -> tuple[list[str], dict[str, Any]]:
        """Conditions that are ranges of the index `notification_undelivered`, and the values they name."""
        found: list[str] = []
        if self.after is not None:
            found.append("finished_at >= %(after)s")
        if self.before is not None:
            found.append("finished_at < %(before)s")
        return found, {"after": self.after, "before": self.before}

    def narrowing(self) -> tuple[list[str], dict[str, Any]]:
        """Conditions on columns that the index carries, and the values they name."""
        values = {
            "channel": self.channel,
            "client_id": self.client_id,
            "last_used_provider": _or_empty(self.provider),
            "last_error_code": _or_empty(self.error_code),
        }
        given = {column: value for column, value in values.items() if value is not None}
        found = [f"{column} = %({column})s" for column in given]
        return found + [MAY_HAVE_BEEN_SENT] * (self.kind is Kind.HELD), given


def _or_empty(text: str | None) -> str | None:
    return "" if text == NONE else text
