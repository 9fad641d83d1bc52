"""A look at what a bulk act would do, before anybody confirms it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import Count
from psycopg.errors import QueryCanceled

from notifications.models import Notification
from notifications.queue.bulk_selection import BulkSelection, actionable, left_as_known, left_as_unsure, matching

COUNT_SECONDS = 5.0
"""How long the count may take: exact or not at all."""


@dataclass(frozen=True, slots=True)
class BulkCount:
    """How many match, exactly.

    Attributes:
        actionable: what the act would be done to.
        unsure: left alone because they may have been sent.
        known: left alone because it is known what became of them; the others that are left alone are past their time.
    """

    total: int
    actionable: int
    unsure: int
    known: int

    @property
    def out_of_time(self) -> int:
        return self.total - self.actionable - self.unsure - self.known


def count_bulk(selection: BulkSelection, cutoff: datetime, seconds: float = COUNT_SECONDS) -> BulkCount | None:
    """Count what matches; None when that was not possible in so many seconds.

    Transaction: one short one. Index: that of the act's order, or the recipient's or reference's.
    """
    with given_up_after(seconds) as outcome:
        counts = matching(selection, cutoff).aggregate(
            total=Count("pk"),
            actionable=Count("pk", filter=actionable(selection)),
            unsure=Count("pk", filter=left_as_unsure(selection)),
            known=Count("pk", filter=left_as_known(selection)),
        )
        outcome.append(BulkCount(**counts))
    return outcome[0] if outcome else None


def sample_bulk(
    selection: BulkSelection, cutoff: datetime, size: int, seconds: float = COUNT_SECONDS
) -> list[Notification] | None:
    """The first of those that the act would be done to, with their clients; None when that took too long."""
    rows = matching(selection, cutoff).filter(actionable(selection)).order_by(*selection.keys)
    with given_up_after(seconds) as outcome:
        outcome.append(list(rows.select_related("client")[:size]))
    return outcome[0] if outcome else None


@contextmanager
def given_up_after(seconds: float) -> Iterator[list[Any]]:
    """What takes longer is broken off, and the list stays empty."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{int(seconds * 1000)}ms"])
            outcome: list[Any] = []
            yield outcome
            cursor.execute("SELECT set_config('statement_timeout', '0', true)")
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
