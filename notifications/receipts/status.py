"""What became of a message at the recipient's side: a second axis, beside the states of a notification. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class DeliveryStatus(StrEnum):
    """From the weakest to the strongest: of several reports the strongest one counts, in whatever order they came."""

    ACCEPTED = "ACCEPTED"
    """The provider has it, or has handed it on."""
    DELAYED = "DELAYED"
    """The recipient's side did not take it yet; the provider goes on trying."""
    REJECTED = "REJECTED"
    """The provider took the request and then refused to deliver the message: it never left."""
    DELIVERED = "DELIVERED"
    """The recipient's side took it."""
    OPENED = "OPENED"
    """The recipient, or a program of theirs, opened it or followed a link in it."""
    UNDELIVERED = "UNDELIVERED"
    """It left, and could not be delivered; another message may be."""
    BOUNCED = "BOUNCED"
    """The recipient's side refused it for good: there is no such address."""
    COMPLAINED = "COMPLAINED"
    """The recipient called it spam."""


TROUBLE = frozenset(
    {
        DeliveryStatus.DELAYED,
        DeliveryStatus.REJECTED,
        DeliveryStatus.UNDELIVERED,
        DeliveryStatus.BOUNCED,
        DeliveryStatus.COMPLAINED,
    }
)
"""What somebody may have to see to. It is rare beside the rest, and found by an index of its own."""
_RANK = {status: rank for rank, status in enumerate(DeliveryStatus)}


def strongest(statuses: Iterable[DeliveryStatus | str]) -> DeliveryStatus | None:
    """The status that counts; None when there is none. The order of the arguments does not matter, nor do repeats."""
    known = [DeliveryStatus(status) for status in statuses if status]
    return max(known, key=_RANK.__getitem__, default=None)


def trouble(status: DeliveryStatus | str | None) -> str:
    """The same status while it is no good news; else empty."""
    return str(status) if status and DeliveryStatus(status) in TROUBLE else ""


def proves_acceptance(status: DeliveryStatus | str) -> bool:
    """Whether whoever reports this must have taken the message: a repeat would be a second copy. What the provider
    itself refused to deliver has no first copy."""
    return DeliveryStatus(status) is not DeliveryStatus.REJECTED
