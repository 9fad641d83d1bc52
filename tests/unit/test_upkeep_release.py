"""How often a worker looks for what may go on."""

from __future__ import annotations

import pytest

from notifications.delivery import upkeep as module
from notifications.delivery.upkeep import RELEASE_EVERY_SECONDS, Upkeep


class _Queue:
    """Counts the looks, and lets so many through each time."""

    def __init__(self, through: int) -> None:
        self.look_count = 0
        self._through = through

    def release_parked(self, limit: object) -> int:
        self.look_count += 1
        return self._through

    def release_paused(self) -> int:
        return 0


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1000.0]
    monkeypatch.setattr(module, "elapsed", lambda: clock[0])
    return clock


def _looks(monkeypatch: pytest.MonkeyPatch, now: list[float], through: int, pauses: list[float]) -> int:
    queue = _Queue(through)
    monkeypatch.setattr(module, "queue", queue)
    upkeep = Upkeep({}, 1.0, None)
    for pause in pauses:
        now[0] += pause
        assert upkeep._release() in (0, through)
    return queue.look_count


def test_release__rounds_that_follow_each_other_at_once__look_once(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    assert _looks(monkeypatch, now, 0, [0.0, 0.001, 0.001]) == 1


def test_release__after_a_while__looks_again(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    assert _looks(monkeypatch, now, 0, [0.0, RELEASE_EVERY_SECONDS, RELEASE_EVERY_SECONDS]) == 3


def test_release__as_long_as_something_goes_through__looks_every_time(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    assert _looks(monkeypatch, now, 5, [0.0, 0.0, 0.0]) == 3
