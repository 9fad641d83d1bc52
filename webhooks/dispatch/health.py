"""What one dispatcher has seen of the endpoints lately. In memory only: it decides nothing but the order of work."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from webhooks.dispatch.attempt import Done

SLOW_SECONDS = 5.0
GIVE_UP_AFTER_FAILURES = 3


class Health:
    """Remembers only the endpoints that give trouble."""

    def __init__(self) -> None:
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

    def gave_up(self, endpoint_id: UUID) -> bool:
        """So many failures in a row that one pass had better leave the rest to the next."""
        return self._failures.get(endpoint_id, 0) >= GIVE_UP_AFTER_FAILURES

    def note_failing(self, endpoint_ids: set[UUID]) -> None:
        """What the database says: other dispatchers see endpoints too."""
        self._failing = endpoint_ids

    def note(self, done: Done) -> None:
        """Take in one answer."""
        key = done.held.claimed.endpoint_id
        if done.seconds >= SLOW_SECONDS:
            self._slow.add(key)
        else:
            self._slow.discard(key)
        if done.reply is None or done.reply.succeeded:
            self._failures.pop(key, None)
        else:
            self._failures[key] = self._failures.get(key, 0) + 1
