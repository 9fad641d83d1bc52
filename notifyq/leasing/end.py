"""Ending leases: one guarded statement for many rows, with what must be written beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from notifyq.leasing.arrays import Arrays
from notifyq.leasing.models import LeasedModel

GUARD = {"id": "uuid", "token": "uuid", "held_status": "text"}
"""The first columns of every ending: it applies only where all three match."""

_LEASE_OVER = {"claim_token": "NULL", "worker_id": "''", "lease_expires_at": "NULL"}


@dataclass(frozen=True, slots=True)
class Follower:
    """Rows inserted in the same statement, each only if the ending it belongs to applied.

    Attributes:
        table: where they go.
        columns: column → SQL over `f` (the follower's own arrays) and `ended` (id, token).
        arrays: their values; the first two columns are the `id` and `token` of the ending.
        on_conflict: what follows ON CONFLICT, where rows are added to what is there; empty for plain inserts.
    """

    table: str
    columns: Mapping[str, str]
    arrays: Arrays
    on_conflict: str = ""


def end_leases(
    model: type[LeasedModel], assignments: Mapping[str, str], endings: Arrays, followers: Sequence[Follower] = ()
) -> list[tuple[UUID, UUID]]:
    """Write the end of many leases and what follows from them, all in one statement.

    Args:
        model: the leased table.
        assignments: column → SQL over `n` (the row) and `v` (the ending).
        endings: one row each, its first columns as in `GUARD`.
        followers: rows to insert beside.

    Returns:
        (id, token) of the endings that applied. The rest were stale: another holds the row, or it has moved on.
        A repeat applies to nothing.

    Locks: the rows, for the statement. Index: the primary key, once per ending. The guard is a join on the arrays
    and nothing else: a literal status or an extra `id = ANY` beside it has PostgreSQL choose, on old statistics, a
    plan whose cost grows with the square of the batch.
    """
    table = model._meta.db_table
    sets = ", ".join(f"{column} = {sql}" for column, sql in (_LEASE_OVER | dict(assignments)).items())
    source, parameters = endings.compact("v", GUARD)
    parts = [
        f"ended AS (UPDATE {table} n SET {sets} FROM {source} "  # noqa: S608 (names from code, values bound)
        "WHERE n.id = v.id AND n.claim_token = v.token AND n.status = v.held_status RETURNING n.id, v.token)"
    ]
    for number, follower in enumerate(followers):
        source, values = follower.arrays.compact("f", GUARD)
        parts.append(f"follower_{number} AS ({_insert(follower, source)})")
        parameters += values
    statement = f"WITH {', '.join(parts)} SELECT id, token FROM ended"  # noqa: S608 (as above)
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [(row[0], row[1]) for row in cursor.fetchall()]


def _insert(follower: Follower, source: str) -> str:
    return (
        f"INSERT INTO {follower.table} ({', '.join(follower.columns)}) "  # noqa: S608 (names from code, values bound)
        f"SELECT {', '.join(follower.columns.values())} "
        f"FROM {source} JOIN ended ON ended.id = f.id AND ended.token = f.token"
        + (f" ON CONFLICT {follower.on_conflict}" if follower.on_conflict else "")
    )
