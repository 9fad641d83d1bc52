"""One bad row must not sink its batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import DataError, IntegrityError

Row = TypeVar("Row")
Result = TypeVar("Result")

REFUSED = (DataError, IntegrityError, ValueError, TypeError)
"""The database, or the driver before it, refuses a value. Anything else is trouble with the database itself."""


def write_all(
    rows: Sequence[Row],
    write: Callable[[Sequence[Row]], list[Result]],
    on_refused: Callable[[Row, Exception], list[Result]],
) -> list[Result]:
    """Write a batch; when it is refused, halve it until the bad row stands alone, and hand that to `on_refused`.

    Args:
        write: all or nothing; called on ever smaller parts.
        on_refused: what to do with the one row that is refused by itself.

    Returns:
        The results of all parts, in order.

    Raises:
        DatabaseError: the database is away; nothing of the part in hand was written.
    """
    if not rows:
        return []
    try:
        return write(rows)
    except REFUSED as error:
        if len(rows) == 1:
            return on_refused(rows[0], error)
    middle = len(rows) // 2
    return write_all(rows[:middle], write, on_refused) + write_all(rows[middle:], write, on_refused)
