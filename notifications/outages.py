"""What is due and stays where it is, since no provider could take it now. Pure, no database.

The workers leave such rows unclaimed and unwritten, however many they are (`notifications.queue.unavailable`). So that
they wait for a provider stands in no row of theirs; it is worked out where they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from notifications.channel import Channel
from notifications.pausing import usable_providers
from notifications.status import Status, WaitingReason

Serving = Callable[[Channel, str], Sequence[str]]
"""(channel, recipient) → the names of the providers that serve it."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Nothing goes through a provider, or through any of several, now.

    Attributes:
        since: since when its breaker is open; None where it only asked not to be called for a while.
        next_call_at: from then on one call is tried; None when an operator keeps it out of use until a reset.
    """

    since: datetime | None
    next_call_at: datetime | None


class Waiting(Protocol):
    """What has to be known of a notification; its row does."""

    status: str
    channel: str
    recipient: str
    due_at: datetime
    waiting_reason: str
    parked_by: UUID | None
    unconfirmed_provider: str


@dataclass(frozen=True, slots=True)
class Outages:
    """All of one moment.

    Attributes:
        now: that moment, by the database's clock; None when nothing is out.
        out: by channel and provider.
        paused: the providers that an operator has paused: what could only go to them waits for the end of the pause.
    """

    now: datetime | None = None
    out: Mapping[tuple[Channel, str], Outage] = field(default_factory=dict)
    paused: frozenset[str] = frozenset()
    serving: Serving = lambda channel, recipient: ()

    def keeping(self, row: Waiting) -> Outage | None:
        """What keeps a notification that is due; None when nothing of the kind does."""
        if self.now is None or row.status != Status.PENDING or row.parked_by is not None or row.due_at > self.now:
            return None
        return self.of(Channel(row.channel), row.recipient, row.unconfirmed_provider)

    def of(self, channel: Channel, recipient: str, unconfirmed_provider: str = "") -> Outage | None:
        """What keeps whatever goes to this address; None while one provider could take it."""
        usable = usable_providers(self.serving(channel, recipient), unconfirmed_provider)
        found = [self.out.get((channel, name)) for name in usable if name not in self.paused]
        kept = [outage for outage in found if outage is not None]
        if not kept or len(kept) < len(found):
            return None
        began = [outage.since for outage in kept if outage.since is not None]
        tried = [outage.next_call_at for outage in kept if outage.next_call_at is not None]
        return Outage(max(began) if len(began) == len(kept) else None, min(tried, default=None))

    def due_at(self, row: Waiting) -> datetime:
        """When it is due, as far as is known: behind a full rate limit when its next slot is expected, where the row
        was read with `expected_at`; and not before one of its providers is called again."""
        expected_at: datetime = getattr(row, "expected_at", row.due_at)
        outage = self.keeping(row)
        return expected_at if outage is None or outage.next_call_at is None else max(expected_at, outage.next_call_at)

    def reason(self, row: Waiting) -> str:
        """Why it waits: as it is stored, or what keeps it where it is now."""
        return row.waiting_reason if self.keeping(row) is None else WaitingReason.PROVIDER_UNAVAILABLE


NO_OUTAGES = Outages()
