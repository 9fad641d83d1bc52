"""One bad row must not sink its batch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import DataError, IntegrityError, OperationalError

from notifyq.leasing import write_all


class _Table:
    """Refuses some rows, as a whole batch or not at all."""

    def __init__(self, *bad: int, error: type[Exception] = DataError) -> None:
        self._bad = set(bad)
        self._error = error
        self.written: list[int] = []
        self.refused: list[int] = []
        self.calls = 0

    def write(self, rows: Sequence[int]) -> list[int]:
        self.calls += 1
        if self._bad & set(rows):
            raise self._error
        self.written += rows
        return list(rows)

    def on_refused(self, row: int, error: Exception) -> list[int]:
        self.refused.append(row)
        return [-row]


@pytest.mark.parametrize("bad", [(), (0,), (63,), (5, 6), (0, 31, 32, 99), tuple(range(100))])
@pytest.mark.parametrize("error", [DataError, IntegrityError, ValueError, TypeError])
def test_write_all__some_rows_are_refused__writes_the_others_once_and_hands_those_over(
    bad: tuple[int, ...], error: type[Exception]
) -> None:
    table = _Table(*bad, error=error)
    results = write_all(range(100), table.write, table.on_refused)
    assert table.written == [n for n in range(100) if n not in bad]
    assert table.refused == list(bad)
    assert results == [-n if n in bad else n for n in range(100)]


def test_write_all__one_of_a_hundred_is_bad__needs_few_calls() -> None:
    table = _Table(41)
    write_all(range(100), table.write, table.on_refused)
    assert table.calls <= 15


def test_write_all__the_database_is_away__says_so_and_blames_no_row() -> None:
    table = _Table(3, error=OperationalError)
    with pytest.raises(OperationalError):
        write_all(range(10), table.write, table.on_refused)
    assert (table.calls, table.refused) == (1, [])


def test_write_all__nothing_to_write__asks_nobody() -> None:
    table = _Table()
    assert write_all([], table.write, table.on_refused) == []
    assert table.calls == 0
