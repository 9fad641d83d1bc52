"""The place of a page of what ended undelivered, as it stands in an address."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from notifications.undelivered import Place
from notifyq.runtime.ids import uuid7

ID = "01a22cbf5d0577978b383cc29ff8d9c8"


@pytest.mark.parametrize(
    "text", ["", "o", "o.", f"x1.{ID}", "o1.x", f"o-1.{ID}", f"o\u0661.{ID}", f"o{'9' * 18}.{ID}", f"o1.{ID}0", "o1"]
)
def test_place__that_was_not_made_here__is_none(text: str) -> None:
    assert Place.decode(text) is None


@pytest.mark.parametrize("older", [True, False])
def test_place__written_and_read__is_the_same(older: bool) -> None:
    place = Place(datetime(2026, 3, 1, 12, 0, 0, 123457, tzinfo=UTC), uuid7(), older)
    assert Place.decode(place.encode()) == place
