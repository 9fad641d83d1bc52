"""Queries whose text is made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import QuerySet


class Fixed:
    """A query that the workers run again and again, always with the same parameters.

    The ORM takes several times as long to make its text as PostgreSQL takes to run it, so that is done only the first
    time.

    Args:
        build: makes it, as `values_list`: called once there are models. Of columns that the driver reads as they are
            meant, which leaves out JSON.
    """

    def __init__(self, build: Callable[[], QuerySet[Any, tuple[Any, ...]]]) -> None:
        self._build = build

    @cached_property
    def _statement(self) -> tuple[str, tuple[Any, ...]]:
        text, parameters = self._build().query.sql_with_params()
        return text, parameters

    def rows(self) -> list[tuple[Any, ...]]:
        """What it finds now."""
        with connection.cursor() as cursor:
            cursor.execute(*self._statement)
            return list(cursor.fetchall())
