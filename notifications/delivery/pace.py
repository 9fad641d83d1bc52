"""How fast this process may call the providers: the calls it has leased of their rates, and who asked for a rest."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from notifications import queue
from notifications.providers.base import Provider
from notifications.retry import RETRY_AFTER_MOST_SECONDS
from notifications.verdict import Verdict
from notifyq.runtime.clock import elapsed

KEPT_SECONDS = 0.5
"""A leased call that is not made by then is lost: whoever saved them up would call faster than the rate later."""


class Pace:
    """Leased and refreshed by the claimer, used up by the delivery threads.

    Args:
        rates: calls a second, by the provider's name; over all workers. One that is missing has no rate.
    """

    def __init__(self, rates: Mapping[str, float] | None = None) -> None:
        self.rates = dict(rates or {})
        self._lock = threading.Lock()
        self._stock: dict[str, tuple[int, float]] = {}
        self._until: dict[str, float] = {}
        self._unsaid: dict[str, float] = {}

    def take(self, name: str) -> bool:
        """Whether the provider may be called now; the call is then used up."""
        if name in self._until and self.throttled_seconds(name):
            return False
        if name not in self.rates:
            return True
        with self._lock:
            count, until = self._stock.get(name, (0, 0.0))
            if count < 1 or elapsed() >= until:
                return False
            self._stock[name] = (count - 1, until)
        return True

    def give_back(self, name: str) -> None:
        """The call that was taken is not made."""
        with self._lock:
            if name in self._stock:
                count, until = self._stock[name]
                self._stock[name] = (count + 1, until)

    def stock(self, name: str) -> int:
        """How many calls may be made now, of a provider with a rate."""
        count, until = self._stock.get(name, (0, 0.0))
        return count if elapsed() < until else 0

    def throttled_seconds(self, name: str) -> float:
        """For so long the provider wants no call; 0 when it does not mind."""
        return max(0.0, self._until.get(name, 0.0) - elapsed())

    @property
    def is_free(self) -> bool:
        """No provider has a rate, and none wants a rest."""
        return not self.rates and not (self._until and any(map(self.throttled_seconds, self._until)))

    def heed(self, provider: Provider, verdict: Verdict) -> bool:
        """Leave a provider alone that said "slow down" and for how long: at once in this process, soon in the others.

        Returns:
            Whether it did.
        """
        if not (verdict.throttled and verdict.retry_after_seconds):
            return False
        seconds = min(verdict.retry_after_seconds, RETRY_AFTER_MOST_SECONDS)
        with self._lock:
            until = max(elapsed() + seconds, self._until.get(provider.name, 0.0))
            self._until = {**self._until, provider.name: until}
            self._unsaid = {**self._unsaid, provider.name: until}
        return True

    def lease(self, name: str) -> None:
        """Take more calls of the rate of a provider whose leased ones are used up.

        Raises:
            DatabaseError: some may have been leased.
        """
        count = queue.lease_calls(name, self.rates[name])
        with self._lock:
            self._stock[name] = (count, elapsed() + KEPT_SECONDS)

    def tell(self) -> int:
        """Say to the others who asked for a rest. Returns how many there were.

        Raises:
            DatabaseError: it is said in the next round.
        """
        told = 0
        for name, until in list(self._unsaid.items()):
            if (left := until - elapsed()) > 0:
                queue.throttle(name, left)
                told += 1
            with self._lock:
                if self._unsaid.get(name) == until:
                    self._unsaid = {n: u for n, u in self._unsaid.items() if n != name}
        return told

    def adopt(self, seen: Mapping[str, queue.PaceSeen]) -> None:
        """What the others said; a rest that is not told yet stays."""
        now = elapsed()
        found = {name: now + pace.throttled_seconds for name, pace in seen.items() if pace.throttled_seconds}
        with self._lock:
            self._until = {**found, **{n: max(u, found.get(n, 0.0)) for n, u in self._unsaid.items()}}
