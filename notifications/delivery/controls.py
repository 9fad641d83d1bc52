"""What operators have paused, as a worker last read it."""

from __future__ import annotations

from notifications import queue
from notifications.delivery.held import Held
from notifications.pausing import Pauses
from notifications.providers.base import Provider


class Controls:
    """Refreshed by the claimer in each of its rounds; asked by the delivery threads, which have no connection, right
    before each call. What is read is replaced whole, so that no lock is needed."""

    def __init__(self, pauses: Pauses | None = None) -> None:
        self._pauses = pauses or Pauses()

    def refresh(self) -> None:
        self._pauses = queue.pauses_in_force()

    def stop(self, held: Held) -> bool:
        """Whether it must not be sent now, through whatever provider."""
        return self._pauses.stops(channel=held.claimed.channel, client_id=held.claimed.client_id)

    def stop_provider(self, provider: Provider) -> bool:
        """Whether nothing may be sent through this one now."""
        return self._pauses.stops_provider(provider.name)
