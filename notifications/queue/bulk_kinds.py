"""What a bulk act is made of, whatever it is done to: a filter that can be stored, and a walk through what matches.

Other apps bring walks of their own: they know this app, it does not know them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from notifications.queue.acts import Act


class BulkFilter(Protocol):
    """What an act is meant for."""

    @property
    def action(self) -> str:
        """One of `BulkAction`: it says by whose walk the act is worked off."""
        ...

    def as_json(self) -> dict[str, Any]:
        """Only what is asked for, in types that JSON has."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walk stands: behind this row. `at` is None where the order is by id alone."""

    at: datetime | None
    id: UUID


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch came to.

    Attributes:
        skipped_count: matched, but cannot be acted on.
        missed_count: somebody else held them just then.
        place: where the next one goes on; None at the end.
    """

    done_count: int
    skipped_count: int
    missed_count: int
    place: Place | None


Walk = Callable[[dict[str, Any], datetime, Place | None, int, Act], Batch]
"""Acts on up to so many rows behind a place: (stored filter, cutoff, place, limit, act). Bounded, passes over what
others hold, in the caller's transaction."""
_walks: dict[str, Walk] = {}


def add_walk(action: str, walk: Walk) -> None:
    """Have the bulk acts of that kind worked off by `walk`. Called when the application starts."""
    _walks[action] = walk


def walk_of(action: str) -> Walk:
    """The walk of a kind of acts.

    Raises:
        KeyError: no app has brought one.
    """
    return _walks[action]


def digest_of(stored: Mapping[str, Any]) -> str:
    """The same for the same filter."""
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()


def plain_fields(selection: Any) -> dict[str, Any]:
    """Those fields of a dataclass that are asked for, in types that JSON has."""
    values = {field.name: getattr(selection, field.name) for field in fields(selection)}
    return {name: _plain(value) for name, value in values.items() if value is not None and value is not False}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else value
