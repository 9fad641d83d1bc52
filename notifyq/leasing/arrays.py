"""Many rows in one statement: one array parameter per column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_WITHOUT_QUOTES = frozenset({"uuid", "int2", "int4", "int8", "float8", "bool"})
"""Types whose values are written in an array as they are. The driver dumps value by value, which costs several times
as much for an array of a few hundred."""


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
        arrays = ", ".join(f"%s::{kind}[]" for kind in self.types.values())
        return f"unnest({arrays}) AS {alias} ({', '.join(self.types)})"

    def parameters(self) -> list[Any]:
        """One parameter per column, for `source`'s placeholders."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.types)
        return [
            literal(column) if kind in _WITHOUT_QUOTES else list(column)
            for kind, column in zip(self.types.values(), columns, strict=True)
        ]


def literal(values: Iterable[Any]) -> str:
    """An array of UUIDs, numbers or booleans as PostgreSQL reads it; None is NULL."""
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"
