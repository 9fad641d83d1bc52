"""The clients' own sending settings, kept for a short while so that they cost the hot path nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from notifications import selectors
from notifyq.runtime.clock import elapsed

KEPT_SECONDS = 15.0


class Senders:
    """Filled by the claimer, which has a database connection; read by the delivery threads, which have none."""

    def __init__(self) -> None:
        self._known: dict[UUID, tuple[float, Mapping[str, str]]] = {}

    def refresh(self, client_ids: Iterable[UUID]) -> None:
        """Read anew the settings of those clients that are not known, or were read too long ago."""
        now = elapsed()
        stale = [c for c in set(client_ids) if c not in self._known or now - self._known[c][0] > KEPT_SECONDS]
        if stale:
            found = selectors.sender_settings(stale)
            self._known |= {c: (now, found.get(c, {})) for c in stale}

    def of(self, client_id: UUID) -> Mapping[str, str]:
        """What that client has set; empty when nothing."""
        return self._known[client_id][1]
