"""Queries whose text is made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from notifyq.leasing.claim import passing_over_held

Rows = QuerySet[Any, tuple[Any, ...]]
Build = Callable[[], Rows]
Statement = tuple[str, tuple[Any, ...]]

_MADE: dict[Build, Statement] = {}


class Fixed:
    """A query that the workers run again and again, always with the same parameters.

    The ORM takes several times as long to make its text as PostgreSQL takes to run it, so that is done only the first
    time.

    Args:
        build: makes it, as `values_list`: called once there are models. Of columns that the driver reads as they are
            meant, which leaves out JSON.
    """

    def __init__(self, build: Build) -> None:
        self._build = build

    def rows(self) -> list[tuple[Any, ...]]:
        """What it finds now."""
        with connection.cursor() as cursor:
            cursor.execute(*_made(self._build))
            return list(cursor.fetchall())


class FixedLock:
    """Rows that the workers lock again and again: the first ones, up to a limit that differs each time.

    Args:
        build: the rows in their order, as for `Fixed`.
    """

    def __init__(self, build: Build) -> None:
        self._build = lambda: passing_over_held(build())

    def rows(self, limit: int) -> list[tuple[Any, ...]]:
        """Lock up to `limit` of them, passing over those that somebody else holds; see `notifyq.leasing.lock`.

        Locks: FOR NO KEY UPDATE SKIP LOCKED on the rows returned, until the transaction ends.
        """
        text, parameters = _made(self._build)
        with connection.cursor() as cursor:
            cursor.execute(f"{text} LIMIT %s", (*parameters, limit))  # PostgreSQL takes it behind the locks as well
            return list(cursor.fetchall())


def forget_made() -> None:
    """Have every text made anew: what its query was made of has changed, as a test may have it."""
    _MADE.clear()


def _made(build: Build) -> Statement:
    made = _MADE.get(build)
    if made is None:
        text, parameters = build().query.sql_with_params()
        made = _MADE[build] = text, parameters
    return made
