"""Emptying the tables after a test that commits.

Django truncates every table, which gives each of them and each of their indexes a new file: several hundred for a test
that wrote ten rows. Deleting those is quicker by far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations

KEPT = {"django_content_type", "auth_permission", "auth_group", "auth_group_permissions"}
"""What the migrations put there, and no test changes for good."""

LARGE_BYTES = 1 << 20
"""A table that has grown beyond that is truncated all the same: its dead rows would slow down the tests to come."""

APPEND_ONLY = {"notifications_controlact"}
"""The database lets no row of these be deleted, only all of them at once."""

EMPTY = """
DO $$
DECLARE
    name text;
    is_filled boolean;
BEGIN
    LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE;  -- waits for whoever still writes, as TRUNCATE does
    FOREACH name IN ARRAY '{{{tables}}}'::text[] LOOP
        IF pg_relation_size(name::regclass) > {large} THEN
            EXECUTE format('TRUNCATE %I CASCADE', name);
        END IF;
    END LOOP;
    FOREACH name IN ARRAY '{{{tables}}}'::text[] LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', name) INTO is_filled;
        IF is_filled AND name = ANY ('{{{append_only}}}') THEN
            EXECUTE format('TRUNCATE %I', name);
        ELSIF is_filled THEN
            EXECUTE format('DELETE FROM %I', name);
        END IF;
    END LOOP;
END $$
"""


def sql_flush(self: DatabaseOperations, style: Any, tables: Sequence[str], **options: bool) -> list[str]:
    """One statement in place of Django's TRUNCATE."""
    names = sorted(set(tables) - KEPT)
    sql = EMPTY.format(tables=",".join(names), append_only=",".join(sorted(APPEND_ONLY)), large=LARGE_BYTES)
    return [sql] if names else []


@pytest.fixture(scope="session", autouse=True)
def quick_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield
