"""Taking rows under a lease."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from notifyq.leasing.arrays import literal
from notifyq.leasing.models import LeasedModel

STATEMENT_TIMEOUT_SECONDS = 10.0
"""No statement on a queue runs longer: what a claim cannot do in this time is better tried again."""


NOTHING_ELSE: Mapping[str, str] = {}
_LEASE = {
    "status": "%s",
    "claim_token": "%s",
    "worker_id": "%s",
    "lease_expires_at": "statement_timestamp() + %s * interval '1 second'",
    "attempt_count": "attempt_count + 1",
}


@contextmanager
def in_transaction_bounded() -> Iterator[None]:
    """A transaction that ends, with all its locks, when it does nothing for STATEMENT_TIMEOUT_SECONDS, or one of its
    statements takes that long: a worker that freezes between two statements must not keep its rows from the others."""
    milliseconds = str(int(STATEMENT_TIMEOUT_SECONDS * 1000))
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('statement_timeout', %s, true), "
                "set_config('idle_in_transaction_session_timeout', %s, true)",
                [milliseconds, milliseconds],
            )
        yield


def in_any_transaction() -> AbstractContextManager[Any]:
    """Inside a caller's transaction a savepoint, so that a refused batch does not poison it; alone, a transaction that
    no freeze of this process can leave open."""
    return transaction.atomic() if connection.in_atomic_block else in_transaction_bounded()


def lock(rows: QuerySet[Any], columns: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
    """Lock up to `limit` of the rows, passing over those that somebody else holds, and read `columns`.

    Ids first, update after: PostgreSQL may run a locking sub-select of an UPDATE again for each row and so take more
    than LIMIT. The lock leaves the key free, so that an open insert of a child row neither waits nor hides its parent.

    Locks: FOR NO KEY UPDATE SKIP LOCKED on the rows returned, until the transaction ends.
    """
    return list(rows.select_for_update(skip_locked=True, no_key=True).values_list(*columns)[:limit])


def take(
    model: type[LeasedModel],
    ids: Sequence[UUID],
    *,
    token: UUID,
    worker_id: str,
    lease_seconds: float,
    status: str,
    assignments: Mapping[str, str] = NOTHING_ELSE,
) -> None:
    """Put locked rows under a lease that runs by the database's clock.

    Args:
        ids: rows locked by `lock` in this transaction.
        token: the fencing token of this claim, never used before.
        status: that of a row that is held.
        assignments: column → SQL, of what else the claim writes; it may override the counting of the attempt.
    """
    sets = ", ".join(f"{column} = {sql}" for column, sql in (_LEASE | dict(assignments)).items())
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {model._meta.db_table} SET {sets} WHERE id = ANY(%s::uuid[])",  # noqa: S608 (names from code, values bound)
            [status, token, worker_id, lease_seconds, literal(ids)],
        )
