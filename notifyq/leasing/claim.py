"""Taking rows under a lease."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from notifyq.leasing.models import LeasedModel

STATEMENT_TIMEOUT_SECONDS = 10.0
"""No statement on a queue runs longer: what a claim cannot do in this time is better tried again."""


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


def passing_over_held(rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    """The rows that nobody holds, to be locked as they are read."""
    return rows.select_for_update(skip_locked=True, no_key=True)


def lock(rows: QuerySet[Any], columns: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
    """Lock up to `limit` of the rows, passing over those that somebody else holds, and read `columns`.

    Ids first, update after: PostgreSQL may run a locking sub-select of an UPDATE again for each row and so take more
    than LIMIT. The lock leaves the key free, so that an open insert of a child row neither waits nor hides its parent.

    Locks: FOR NO KEY UPDATE SKIP LOCKED on the rows returned, until the transaction ends.
    """
    return list(passing_over_held(rows).values_list(*columns)[:limit])


def take(
    model: type[LeasedModel],
    ids: Sequence[UUID],
    *,
    token: UUID,
    worker_id: str,
    lease_seconds: float,
    **changes: Any,
) -> None:
    """Put locked rows under a lease that runs by the database's clock.

    Args:
        ids: rows locked by `lock` in this transaction.
        token: the fencing token of this claim, never used before.
        changes: what else the claim writes, at least the status; it may override the counting of the attempt.
    """
    changes.setdefault("attempt_count", F("attempt_count") + 1)
    model._default_manager.filter(id__any=ids).update(
        claim_token=token,
        worker_id=worker_id,
        lease_expires_at=Now() + timedelta(seconds=lease_seconds),
        **changes,
    )
