"""What a claim leaves where it is, or puts off, since no provider could take it now."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from notifications.breaker import Wait
from notifications.channel import Channel
from notifications.models import Notification
from notifications.status import WaitingReason
from notifyq.leasing import Arrays

Row = Mapping[str, Any]
_DICE = random.Random()


@dataclass(frozen=True, slots=True)
class Terms:
    """What the health of the providers allows a claim to take.

    Attributes:
        most: how many of a channel; any number where it is missing, and none of a channel that has no provider.
        waits: (channel, provider) → how long to put off what has to go to just this provider.
    """

    most: Mapping[Channel, int] = field(default_factory=dict)
    waits: Mapping[tuple[Channel, str], Wait] = field(default_factory=dict)

    @property
    def closed(self) -> frozenset[Channel]:
        """The channels that nothing is taken of."""
        return frozenset(channel for channel, most in self.most.items() if most <= 0)


NO_TERMS = Terms()


def put_off_bound(rows: Sequence[Row], terms: Terms) -> tuple[list[Row], list[UUID]]:
    """Put off those of a claim's rows that may only go to a provider that cannot take them now. No attempt is counted.

    Args:
        rows: `id, channel, unconfirmed_provider` and more by name, locked in the present transaction.

    Returns:
        The other rows, and the ids of those that were put off.
    """
    later = {
        row["id"]: wait.draw(_DICE)
        for row in rows
        if row["unconfirmed_provider"]
        and (wait := terms.waits.get((row["channel"], row["unconfirmed_provider"]))) is not None
    }
    if later:
        arrays = Arrays({"id": "uuid", "wait_seconds": "float8"}, list(later.items()))
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {Notification._meta.db_table} n "  # noqa: S608 (names from code, values bound)
                "SET due_at = now() + v.wait_seconds * interval '1 second', waiting_reason = %s, updated_at = now() "
                f"FROM {arrays.source('v')} WHERE n.id = v.id",
                [WaitingReason.PROVIDER_UNAVAILABLE, *arrays.parameters()],
            )
    return [row for row in rows if row["id"] not in later], list(later)
