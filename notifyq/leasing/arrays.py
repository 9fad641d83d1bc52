"""Many rows in one statement: one array parameter per column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

_WITHOUT_QUOTES = frozenset({"uuid", "int2", "int4", "int8", "float8", "bool"})
"""Types whose values are written in an array as they are. The driver dumps value by value, which costs several times
as much for an array of a few hundred; that goes for texts too."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """Rows to be passed to a statement through `unnest`.

    Attributes:
        types: column name → PostgreSQL type, in order.
        rows: one tuple per row, values in the same order.
    """

    types: Mapping[str, str]
    rows: Sequence[Sequence[Any]]

    def source(self, alias: str) -> str:
        """A FROM item with these rows, called `alias`."""
        return _unnest(self.types, alias)

    def parameters(self) -> list[Any]:
        """One parameter per column, for `source`'s placeholders."""
        return [_array(kind, column) for kind, column in zip(self.types.values(), self._columns(), strict=True)]

    def compact(self, alias: str, keys: Collection[str]) -> tuple[str, list[Any]]:
        """The same with its parameters, where a column that has one value in all rows is passed once. Rows that are
        written together have most of their values in common.

        Args:
            keys: columns that the statement joins by: arrays whatever they hold, so that its plan is always the same.
        """
        shared: dict[str, Any] = {}
        arrays: dict[str, Any] = {}
        for name, column in zip(self.types, self._columns(), strict=True):
            alike = name not in keys and column and column.count(column[0]) == len(column)
            (shared if alike else arrays)[name] = column
        once = "".join(f", %s::{self.types[name]} AS {name}" for name in shared)
        kinds = {name: self.types[name] for name in arrays}
        return (
            f"(SELECT each.*{once} FROM {_unnest(kinds, 'each')}) AS {alias}",  # noqa: S608 (names from code, values bound)
            [column[0] for column in shared.values()] + [_array(kinds[name], arrays[name]) for name in arrays],
        )

    def _columns(self) -> list[Sequence[Any]]:
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.types)


def literal(values: Iterable[Any]) -> str:
    """An array of UUIDs, numbers or booleans as PostgreSQL reads it; None is NULL."""
    return "{" + ",".join(map(_plain, values)) + "}"


def _unnest(types: Mapping[str, str], alias: str) -> str:
    arrays = ", ".join(f"%s::{kind}[]" for kind in types.values())
    return f"unnest({arrays}) AS {alias} ({', '.join(types)})"


def _array(kind: str, column: Sequence[Any]) -> Any:
    if kind in _WITHOUT_QUOTES:
        return literal(column)
    return "{" + ",".join(map(_quoted, column)) + "}" if kind == "text" else list(column)


def _plain(value: Any) -> str:
    if type(value) is UUID:
        return value.hex  # `str` takes four times as long, to put the dashes in
    return "NULL" if value is None else str(value)


def _quoted(text: str | None) -> str:
    """Source: PostgreSQL manual, section 8.15.6 (Array Input and Output Syntax)."""
    if text is None:
        return "NULL"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
