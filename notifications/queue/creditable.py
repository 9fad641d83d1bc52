"""Whose receipts count for a notification: those of a provider through which it may have been sent, and of no other.

A signature proves who reports, not that the message went that way: another program may use the same account, and
whoever can have a vendor sign something could name any notification.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from uuid import UUID

from notifications.channel import Channel
from notifications.models import Attempt
from notifications.providers.registry import built_in
from notifications.status import Status


@dataclass(frozen=True, slots=True)
class Row:
    """A locked notification. The providers are empty where there is none."""

    id: UUID
    status: str
    channel: str
    unconfirmed_provider: str
    delivery_status: str
    provider: str
    last_used_provider: str

    @property
    def own_traces(self) -> frozenset[str]:
        """The providers that the row itself names."""
        return frozenset({self.unconfirmed_provider, self.provider, self.last_used_provider} - {""})


class Judgement(Enum):
    """What becomes of a report."""

    COUNTS = auto()
    HELD = auto()
    """A worker is at it: its own verdict comes first, and says through whom it was sent."""
    EARLY = auto()
    """It waits, and nobody was asked to send it yet, as far as is known: whoever is may be this provider."""
    STRAY = auto()
    """It was not sent through this provider."""


def judge(row: Row, provider: str, traces: Collection[str], *, is_old: bool = False) -> Judgement:
    """What a report of `provider` is worth for the notification as it stands.

    Args:
        traces: every provider that was asked to send it, by its row and its attempts. Each instance, such as
            `twilio:eu`, is a provider of its own.
        is_old: it has waited for as long as a report may.
    """
    if not can_carry(provider, row.channel):
        return Judgement.STRAY
    if row.status == Status.PROCESSING:
        return Judgement.HELD
    if provider in traces:
        return Judgement.COUNTS
    # One whose worker died without a record has an attempt, lost, at the provider it must have gone to: the rescue
    # writes it. So one that waits without a trace was not sent, unless the database is older than the send.
    return Judgement.EARLY if row.status == Status.PENDING and not is_old else Judgement.STRAY


def can_carry(provider: str, channel: str) -> bool:
    """Whether a provider of this kind sends over the channel, whatever the chains say today: it may have left them."""
    adapter = built_in(provider)
    return adapter is not None and Channel(channel) in adapter.channels


def asked_providers(ids: Iterable[UUID]) -> dict[UUID, set[str]]:
    """Who was asked to send each of these, by their attempts. One query, by the index of the foreign key."""
    found: dict[UUID, set[str]] = {}
    wanted = list(ids)
    if wanted:
        rows = Attempt.objects.filter(notification_id__in=wanted).order_by().values_list("notification_id", "provider")
        for identity, provider in rows.distinct():
            found.setdefault(identity, set()).add(provider)
    return found
