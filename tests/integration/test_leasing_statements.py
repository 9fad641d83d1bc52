"""What the hot statements are passed, and how: the database has to read what was meant."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import DataError, connection
from django.db.models import QuerySet

from notifications.models import Client
from notifyq.leasing import Arrays, Fixed

HARD = [
    "",
    "plain",
    "NULL",
    "null",
    'a "quote"',
    "back\\slash",
    "{braces, and commas}",
    " spaces ",
    "two\nlines",
    "日本",
]
TYPES = {"id": "uuid", "text": "text", "same": "text", "number": "int4", "share": "float8", "flag": "bool"}


def _read(sql: str, parameters: list[object]) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(TYPES)} FROM {sql} ORDER BY number", parameters)
        return [tuple(row) for row in cursor.fetchall()]


def _rows(texts: list[str | None]) -> list[tuple[object, ...]]:
    return [(uuid4(), text, "alike", number, None, number % 2 == 0) for number, text in enumerate(texts)]


@pytest.mark.django_db
@pytest.mark.parametrize("texts", [[*HARD, None], ["one"], [None, None]])
def test_arrays__of_any_texts__come_back_as_they_were(texts: list[str | None]) -> None:
    rows = _rows(texts)
    arrays = Arrays(TYPES, rows)
    assert _read(arrays.source("v"), arrays.parameters()) == rows
    assert _read(*arrays.compact("v", {"id"})) == rows


@pytest.mark.django_db
def test_arrays__a_text_that_no_table_takes__is_refused() -> None:
    arrays = Arrays(TYPES, _rows(["nul \0", "other"]))
    with pytest.raises(DataError):
        _read(*arrays.compact("v", {"id"}))


def test_compact__a_column_alike_in_all_rows__is_passed_once_unless_it_is_a_key() -> None:
    rows = [(UUID(int=1), "held", "a", 7), (UUID(int=2), "held", "b", 7)]
    arrays = Arrays({"id": "uuid", "state": "text", "text": "text", "number": "int4"}, rows)
    sql, parameters = arrays.compact("v", {"id", "state"})
    assert sql == (
        "(SELECT each.*, %s::int4 AS number FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS each (id, state, text)) "
        "AS v"
    )
    assert parameters == [7, f"{{{UUID(int=1).hex},{UUID(int=2).hex}}}", '{"held","held"}', '{"a","b"}']


@pytest.mark.django_db
def test_fixed__asked_again_after_a_change__finds_it_with_the_same_text() -> None:
    built: list[QuerySet[Client, tuple[str]]] = []

    def build() -> QuerySet[Client, tuple[str]]:
        built.append(Client.objects.order_by("name").values_list("name"))
        return built[-1]

    clients = Fixed(build)
    assert clients.rows() == []
    Client.objects.create(name="ada")
    assert clients.rows() == [("ada",)]
    assert len(built) == 1
