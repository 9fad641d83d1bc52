"""When to try again. Pure, no database."""

from __future__ import annotations

import random
from dataclasses import dataclass

RETRY_AFTER_MOST_SECONDS = 3600.0
"""A provider may ask for a longer wait than our own cap, but not for more than this."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with jitter over the upper half.

    Attributes:
        base_seconds: the longest wait after the first failure.
        most_seconds: the cap on the growing wait.
    """

    base_seconds: float
    most_seconds: float

    def wait_seconds(self, failed_attempts: int, *, at_least_seconds: float = 0.0, dice: random.Random) -> float:
        """How long to wait after the k-th failed attempt: uniform in (x/2, x], x = min(cap, base · 2^(k-1)).

        Args:
            failed_attempts: k, from 1.
            at_least_seconds: a provider's Retry-After. It is a floor that the jitter is added to, so that a thousand
                rows held back together do not come back together.
        """
        doublings = min(failed_attempts - 1, 64)  # past any cap, and no overflow
        longest = min(self.most_seconds, self.base_seconds * 2.0**doublings)
        wait = longest - dice.random() * longest / 2
        floor = min(at_least_seconds, RETRY_AFTER_MOST_SECONDS)
        return wait if wait > floor else floor + dice.random() * longest / 2
