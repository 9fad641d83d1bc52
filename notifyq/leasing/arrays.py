"""Many rows in one statement: one array parameter per column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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

    def parameters(self) -> list[list[Any]]:
        """One list per column, for `source`'s placeholders."""
        if not self.rows:
            return [[] for _ in self.types]
        return [list(column) for column in zip(*self.rows, strict=True)]
