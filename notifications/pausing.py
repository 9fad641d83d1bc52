"""Which notifications the pauses in force keep from being sent. Pure, no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from notifications.channel import Channel


class PauseScope(StrEnum):
    """What a pause stops."""

    ALL = "ALL"
    CHANNEL = "CHANNEL"
    PROVIDER = "PROVIDER"
    CLIENT = "CLIENT"


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses in force at one moment.

    Attributes:
        parking_ids: (scope, value) → what the notifications that it keeps are parked under.
    """

    parking_ids: Mapping[tuple[str, str], UUID] = field(default_factory=dict)

    def keeping(self, *, channel: Channel, client_id: UUID, providers: Sequence[str]) -> UUID | None:
        """What a notification has to be parked under; None when it may be sent.

        Args:
            providers: those it could be sent through. A pause of one of several keeps nothing: it is passed over.
        """
        whole = self._of_whole(channel, client_id)
        if whole is not None:
            return whole
        paused = [self.parking_ids.get((PauseScope.PROVIDER, name)) for name in providers]
        return paused[0] if paused and None not in paused else None

    def stops(self, *, channel: Channel, client_id: UUID) -> bool:
        """Whether nothing of this channel or client is sent, whatever the provider."""
        return self._of_whole(channel, client_id) is not None

    def stops_provider(self, name: str) -> bool:
        return (PauseScope.PROVIDER, name) in self.parking_ids

    def _of_whole(self, channel: Channel, client_id: UUID) -> UUID | None:
        if not self.parking_ids:
            return None  # as nearly always; it is asked before each call
        keys = ((PauseScope.ALL, ""), (PauseScope.CHANNEL, channel), (PauseScope.CLIENT, str(client_id)))
        found = (self.parking_ids.get((scope.value, str(value))) for scope, value in keys)
        return next((parking_id for parking_id in found if parking_id is not None), None)


def usable_providers(chain: Sequence[str], unconfirmed_provider: str) -> Sequence[str]:
    """Those of the chain's names that a notification could go to: the one it is bound to, or all."""
    return (unconfirmed_provider,) if unconfirmed_provider in chain else chain
