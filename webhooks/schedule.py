"""When a webhook is tried again. Pure, no database."""

from __future__ import annotations

import random

WAITS_SECONDS = (0.0, 5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Before each attempt, counted from the one before: 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.

Source: the example schedule of the Standard Webhooks specification (section "Deliverability and reliability").
"""
JITTER_SHARE = 0.1
RETRY_AFTER_MOST_SECONDS = 86_400.0


def wait_seconds(failed_attempts: int, *, at_least_seconds: float = 0.0, dice: random.Random) -> float:
    """How long to wait after the k-th failed attempt.

    Args:
        failed_attempts: k, from 1. Beyond the table its last wait goes on.
        at_least_seconds: the endpoint's Retry-After: a floor, of which at most 24 hours count.

    Returns:
        The wait of the table (or the floor, when that is longer), and up to a tenth more: a thousand events that
        failed together do not come back together.
    """
    planned = WAITS_SECONDS[min(failed_attempts, len(WAITS_SECONDS) - 1)]
    longest = max(planned, min(at_least_seconds, RETRY_AFTER_MOST_SECONDS))
    return longest * (1.0 + JITTER_SHARE * dice.random())
