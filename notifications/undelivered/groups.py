"""The undelivered in groups: how many for each channel, provider and error code, and since when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from notifications.status import Status
from notifications.undelivered.wanted import MAY_HAVE_BEEN_SENT, UNDELIVERED, Kind
from notifyq.runtime.index_order import in_index_order

GROUPED_MOST = 20_000
"""How many of each status are looked at, the latest."""
GROUPS_MOST = 100
"""How many groups are told; the others are counted."""

# Index notification_undelivered alone, from its end. The status stands in the text, so that the index is found.
_GROUPS = """
SELECT channel, last_used_provider, last_error_code, held, count(*), min(finished_at), max(finished_at) FROM (
       SELECT channel, last_used_provider, last_error_code, {held} AS held, finished_at
         FROM notifications_notification WHERE status = '{status}'
        ORDER BY finished_at DESC, id DESC LIMIT %(most)s) AS latest
 GROUP BY 1, 2, 3, 4
"""
# The same index alone: whether there is one more.
_MORE = """
SELECT 1 FROM notifications_notification WHERE status = '{status}'
 ORDER BY finished_at DESC, id DESC OFFSET %(most)s LIMIT 1
"""
# Index notification_undelivered: a look at the very instant at which the group's latest ended.
_MESSAGES = """
SELECT told.n, latest.last_error_message
  FROM unnest(%(n)s::int[], %(at)s::timestamptz[], %(channel)s::text[], %(provider)s::text[], %(code)s::text[])
       AS told(n, at, channel, provider, code)
 CROSS JOIN LATERAL (
       SELECT last_error_message FROM notifications_notification
        WHERE status = '{status}' AND finished_at = told.at AND channel = told.channel
          AND last_used_provider = told.provider AND last_error_code = told.code
        LIMIT 1) AS latest
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Those of one status, channel, provider and error code.

    Attributes:
        held_count: how many of them may have been sent.
        last_message: what the provider said of the latest; empty where it is unknown.
    """

    status: Status
    channel: str
    provider: str
    error_code: str
    count: int
    held_count: int
    first_at: datetime
    last_at: datetime
    last_message: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return (self.status, self.channel, self.provider, self.error_code)

    def joined(self, other: Group) -> Group:
        """Both as one."""
        return replace(
            self,
            count=self.count + other.count,
            held_count=self.held_count + other.held_count,
            first_at=min(self.first_at, other.first_at),
            last_at=max(self.last_at, other.last_at),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """The undelivered as a whole.

    Attributes:
        counts: how many of each kind.
        bounded: the kinds of which there are more than were looked at.
        groups: of the kind that was asked for.
        left_out: how many more groups there are.
    """

    counts: dict[Kind, int]
    bounded: frozenset[Kind]
    groups: Sequence[Group]
    left_out: int


ORDERS: dict[str, Callable[[Group], Any]] = {
    "count": lambda group: (group.count, group.last_at),
    "latest": lambda group: (group.last_at, group.count),
}
"""Both from the highest down."""


def summarize(kind: Kind, order: str = "count", most: int | None = None) -> Summary:
    """Group them.

    Args:
        order: a key of `ORDERS`.
        most: how many groups at most; None means GROUPS_MOST.

    Returns:
        The figures are exact up to GROUPED_MOST of a status, and of the latest so many beyond.
    """
    with in_index_order():
        parts = {status: _parts(status) for status in UNDELIVERED}
        full = {status for status, groups in parts.items() if _are_more(status, groups)}
    counts = {each: sum(group.count for group in _of(each, parts)) for each in Kind}
    most = GROUPS_MOST if most is None else most
    groups = sorted(_joined(_of(kind, parts)), key=ORDERS[order], reverse=True)
    return Summary(
        counts,
        frozenset(each for each in Kind if full.intersection(each.statuses)),
        _with_messages(groups[:most]),
        max(0, len(groups) - most),
    )


def _parts(status: Status) -> list[Group]:
    """Groups of a status, those that are held apart from the others."""
    rows = _rows(_GROUPS.format(status=status, held=MAY_HAVE_BEEN_SENT), most=GROUPED_MOST)
    return [
        Group(status, channel, provider, code, count, count if held else 0, first, last)
        for channel, provider, code, held, count, first, last in rows
    ]


def _are_more(status: Status, groups: Iterable[Group]) -> bool:
    """Whether some of the status were not looked at."""
    all_of_them = sum(group.count for group in groups) < GROUPED_MOST
    return not all_of_them and bool(_rows(_MORE.format(status=status), most=GROUPED_MOST))


def _of(kind: Kind, parts: dict[Status, list[Group]]) -> list[Group]:
    found = [group for status in kind.statuses for group in parts[status]]
    return [group for group in found if group.held_count] if kind is Kind.HELD else found


def _joined(parts: Iterable[Group]) -> list[Group]:
    found: dict[tuple[str, ...], Group] = {}
    for part in parts:
        found[part.key] = found[part.key].joined(part) if part.key in found else part
    return list(found.values())


def _with_messages(groups: Sequence[Group]) -> list[Group]:
    messages = {number: text for status in UNDELIVERED for number, text in _messages(status, groups)}
    return [replace(group, last_message=messages.get(number, "")) for number, group in enumerate(groups)]


def _messages(status: Status, groups: Sequence[Group]) -> list[tuple[int, str]]:
    asked = [(number, group) for number, group in enumerate(groups) if group.status is status]
    if not asked:
        return []
    return _rows(
        _MESSAGES.format(status=status),
        n=[number for number, _ in asked],
        at=[group.last_at for _, group in asked],
        channel=[group.channel for _, group in asked],
        provider=[group.provider for _, group in asked],
        code=[group.error_code for _, group in asked],
    )


def _rows(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
