"""Many new rows in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Field, Model
from django.db.models.expressions import DatabaseDefault

from notifyq.leasing.arrays import Arrays

# Text is passed as `text` and not as `varchar(n)`: a cast to the latter would cut off what is too long in silence.
_TYPES = {
    "CharField": "text",
    "TextField": "text",
    "UUIDField": "uuid",
    "ForeignKey": "uuid",
    "OneToOneField": "uuid",
    "PositiveSmallIntegerField": "int2",
    "BooleanField": "bool",
    "DateTimeField": "timestamptz",
    "BinaryField": "bytea",
    "JSONField": "jsonb",
}


def insert_new(model: type[Model], rows: Sequence[Model]) -> set[UUID]:
    """Insert unsaved rows, leaving out those that a unique constraint refuses.

    `bulk_create` has one placeholder for each value; for a thousand rows that costs a second of computing.

    Args:
        rows: their primary key is a UUID; a column left to the database's default is left to it in all of them.

    Returns:
        The primary keys of those that were stored.

    Locks: waits for other open transactions that hold the same unique value. The rows go in in their order.
    """
    if not rows:
        return set()
    columns = [f for f in model._meta.concrete_fields if not (f.generated or _is_left_out(f, rows))]
    types = {str(f.column): _TYPES[f.get_internal_type()] for f in columns}
    values = [[f.get_db_prep_save(getattr(row, f.attname), connection) for f in columns] for row in rows]
    arrays, names = Arrays(types, values), ", ".join(types)
    pk = model._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({names}) SELECT {names} FROM {arrays.source('v')} "  # noqa: S608 (names from code, values bound)
            f"ON CONFLICT DO NOTHING RETURNING {pk}",
            arrays.parameters(),
        )
        stored = {row[0] for row in cursor.fetchall()}
    for row in rows:
        if row.pk in stored:
            row._state.adding, row._state.db = False, connection.alias
    return stored


def _is_left_out(field: Field[Any, Any], rows: Sequence[Model]) -> bool:
    values = [getattr(row, field.attname) for row in rows]
    return all(value is None or isinstance(value, DatabaseDefault) for value in values)
