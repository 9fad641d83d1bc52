"""What one dispatcher has seen of the endpoints lately. In memory only: it decides nothing but the order of work."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from webhooks.dispatch.attempt import Done
from webhooks.dispatch.seats import QUICK_SECONDS

SLOW_SECONDS = 5.0
QUICK_RUN = 16
"""How many events one seat takes at a time for an endpoint whose last answer was quick and good."""
GIVE_UP_AFTER_FAILURES = 3


class Health:
    """A few sets of endpoints."""

    def __init__(self) -> None:
        self._quick: set[UUID] = set()
        self._slow: set[UUID] = set()
        self._failing: set[UUID] = set()
        self._failures: dict[UUID, int] = {}

    @property
    def troubled(self) -> Collection[UUID]:
        """Those that are slow or failing."""
        return self._slow | self._failing

    def is_slow(self, endpoint_id: UUID) -> bool:
        """Its last answer took long, or never came."""
        return endpoint_id in self._slow

    def run_length(self, endpoint_id: UUID) -> int:
        """How many events one seat may take for it."""
        return QUICK_RUN if endpoint_id in self._quick else 1

    def gave_up(self, endpoint_id: UUID) -> bool:
        """So many failures in a row that one pass had better leave the rest to the next."""
        return self._failures.get(endpoint_id, 0) >= GIVE_UP_AFTER_FAILURES

    def note_failing(self, endpoint_ids: set[UUID]) -> None:
        """What the database says: other dispatchers see endpoints too."""
        self._failing = endpoint_ids

    def note(self, done: Done) -> None:
        """Take in one answer."""
        key = done.held.claimed.endpoint_id
        good = done.reply is not None and done.reply.succeeded
        _put(self._slow, key, present=done.seconds >= SLOW_SECONDS)
        _put(self._quick, key, present=good and done.seconds < QUICK_SECONDS)
        self._failures[key] = 0 if good else self._failures.get(key, 0) + 1


def _put(keys: set[UUID], key: UUID, *, present: bool) -> None:
    (keys.add if present else keys.discard)(key)
