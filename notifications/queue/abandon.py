"""Giving back what a worker may have claimed without learning of it."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from notifications.models import Notification
from notifications.outcome import Standing, given_back
from notifications.queue.settle import Ending, release
from notifications.status import Status


def abandon(tokens: Collection[UUID]) -> int:
    """Give back whatever stands under these tokens: the connection was lost when the claims were to be committed, so
    nobody has the rows in hand, and they would wait for their lease.

    Returns:
        How many were given back. Safe to repeat, which finds what the server commits late.

    Index: `notification_lease`, which holds what is leased and nothing else.
    """
    taken = Notification.objects.filter(
        status=Status.PROCESSING, lease_expires_at__isnull=False, claim_token__any=tokens
    ).values_list("id", "claim_token", "final_check")
    return release(
        [
            Ending(identity, token, given_back(Standing(1, 1, final_check=final_check)))
            for identity, token, final_check in taken
            if token is not None
        ]
    )
