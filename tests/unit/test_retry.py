"""How long a retry waits."""

from __future__ import annotations

import random
import statistics
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from notifications.retry import RETRY_AFTER_MOST_SECONDS, Backoff

DEFAULT = Backoff(1.0, 60.0)
DICE = random.Random(7)


class _Loaded(random.Random):
    """Always throws the same."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self._value = value

    def random(self) -> float:
        return self._value


LEAST, MOST = _Loaded(0.0), _Loaded(1 - 2**-53)


@given(st.integers(1, 10_000), st.floats(0.001, 3600), st.floats(1, 86_400), st.randoms(use_true_random=False))
def test_wait__of_any_attempt__lies_in_the_upper_half_below_the_cap(
    failed: int, base: float, cap: float, dice: random.Random
) -> None:
    longest = min(cap, base * 2 ** min(failed - 1, 64))
    assert longest / 2 <= Backoff(base, cap).wait_seconds(failed, dice=dice) <= longest


def test_wait__of_the_first_attempts__doubles_up_to_the_cap() -> None:
    longest = [DEFAULT.wait_seconds(k, dice=LEAST) for k in range(1, 9)]
    assert longest == [1, 2, 4, 8, 16, 32, 60, 60]
    shortest = [DEFAULT.wait_seconds(k, dice=MOST) for k in range(1, 9)]
    assert all(x / 2 <= y < x / 2 + 0.001 for x, y in zip(longest, shortest, strict=True))


def test_wait__after_absurdly_many_attempts__does_not_overflow() -> None:
    assert DEFAULT.wait_seconds(10**9, dice=LEAST) == 60


def test_wait__of_a_thousand_at_once__is_spread_evenly() -> None:
    waits = sorted(DEFAULT.wait_seconds(1, dice=DICE) for _ in range(1000))
    assert 0.73 < statistics.mean(waits) < 0.77
    assert max(b - a for a, b in pairwise(waits)) < 0.02


def test_wait__asked_for_by_the_provider__is_a_floor_that_jitter_comes_on_top_of() -> None:
    waits = [DEFAULT.wait_seconds(1, at_least_seconds=120, dice=DICE) for _ in range(100)]
    assert all(120 <= wait <= 120.5 for wait in waits)  # beyond the cap, too
    assert len(set(waits)) == 100


def test_wait__asked_for_shorter_than_ours__is_ours() -> None:
    assert DEFAULT.wait_seconds(5, at_least_seconds=1, dice=LEAST) == 16


def test_wait__asked_for_without_end__is_an_hour_at_most() -> None:
    wait = DEFAULT.wait_seconds(1, at_least_seconds=float("inf"), dice=MOST)
    assert RETRY_AFTER_MOST_SECONDS <= wait <= RETRY_AFTER_MOST_SECONDS + 0.5
