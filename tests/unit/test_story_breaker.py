"""How a breaker stands, in one sentence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from notifications.breaker import BreakerState
from notifications.story.breaker import BreakerDeed, BreakerFacts, legal, standing

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CLOSED, OPEN, HALF_OPEN = BreakerState
TRIP, RESET = BreakerDeed


def sentence(facts: BreakerFacts) -> str:
    return "".join(f"{p:%H:%M}" if isinstance(p, datetime) else str(p) for p in standing(facts, NOW))


@pytest.mark.parametrize(
    ("facts", "told", "deeds"),
    [
        (BreakerFacts(state=CLOSED), "It is called as usual.", (TRIP,)),
        (BreakerFacts(state=CLOSED, failures=1), "It is called as usual. The last call failed.", (RESET, TRIP)),
        (BreakerFacts(state=CLOSED, failures=3), "It is called as usual. The last 3 calls failed.", (RESET, TRIP)),
        (
            BreakerFacts(state=CLOSED, rests_until=NOW + HOUR),
            "It asked not to be called before 13:00, in 1:00:00.",
            (RESET, TRIP),
        ),
        (BreakerFacts(state=CLOSED, rests_until=NOW - HOUR), "It is called as usual.", (TRIP,)),
        (
            BreakerFacts(state=OPEN, out_since=NOW - HOUR, next_call_at=NOW + HOUR),
            "It is out of use since 11:00: one call is tried at 13:00, in 1:00:00.",
            (RESET, TRIP),
        ),
        (
            BreakerFacts(state=OPEN, out_since=NOW - HOUR, next_call_at=NOW),
            "It is out of use since 11:00: one call is due, to see whether it is back.",
            (RESET, TRIP),
        ),
        (
            BreakerFacts(state=HALF_OPEN, out_since=NOW - HOUR, next_call_at=NOW),
            "It is out of use since 11:00: one call is under way, to see whether it is back.",
            (RESET, TRIP),
        ),
        (
            BreakerFacts(state=OPEN, is_tripped=True, tripped_by="ada", tripped_at=NOW - HOUR, reason="it is slow"),
            "ada tripped it at 11:00 (it is slow): it is not called until somebody resets it.",
            (RESET,),
        ),
        (
            BreakerFacts(state=OPEN, is_tripped=True, tripped_by="ada", tripped_at=NOW),
            "ada tripped it at 12:00: it is not called until somebody resets it.",
            (RESET,),
        ),
    ],
)
def test_breaker__in_each_state__says_whether_it_is_called_and_what_has_an_effect(
    facts: BreakerFacts, told: str, deeds: tuple[BreakerDeed, ...]
) -> None:
    assert sentence(facts) == told
    assert legal(facts, NOW) == deeds
