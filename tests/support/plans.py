"""Running a statement for real, undoing it, and reading how PostgreSQL went about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction


def explain(sql: str) -> dict[str, Any]:
    """The plan, with what running it took; what it changed is undone."""
    with undone(), connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql.replace("%", "%%"))
        plan: dict[str, Any] = cursor.fetchone()[0][0]["Plan"]
        return plan


class undone(transaction.Atomic):  # noqa: N801 (reads as a sentence)
    """A savepoint that is rolled back on the way out."""

    def __init__(self) -> None:
        super().__init__(using=None, savepoint=True, durable=False)

    def __exit__(self, *error: Any) -> None:
        transaction.set_rollback(True)
        super().__exit__(*error)


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The plan and every part of it."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes_of(child)
