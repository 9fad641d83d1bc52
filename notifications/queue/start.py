"""Making the beginning of a send durable, for providers that cannot drop a repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from notifications.models import Notification
from notifications.status import Status
from notifyq.leasing import Arrays


@dataclass(frozen=True, slots=True)
class Start:
    """A send about to begin.

    Attributes:
        needed_seconds: what must be left of the lease: the send's own timeout.
    """

    id: UUID
    token: UUID
    provider: str
    needed_seconds: float


_START = {"id": "uuid", "token": "uuid", "held_status": "text", "provider": "text", "needed_seconds": "float8"}


def start_sends(starts: Sequence[Start]) -> set[tuple[UUID, UUID]]:
    """Record, before the calls, with whom each send is begun.

    After a crash this tells a send that may have happened from one that certainly did not.

    Returns:
        (id, token) of those that may go on: still held, with enough of the lease left. Safe to repeat.

    Transaction: autocommit, one statement. It touches no indexed column, so it adds to no index.
    """
    rows = [(s.id, s.token, Status.PROCESSING, s.provider, s.needed_seconds) for s in starts]
    arrays = Arrays(_START, rows)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Notification._meta.db_table} n "  # noqa: S608 (names from code, values bound)
            "SET sending_provider = v.provider, send_started_at = now() "
            f"FROM {arrays.source('v')} "
            "WHERE n.id = v.id AND n.claim_token = v.token AND n.status = v.held_status "
            "AND n.lease_expires_at > now() + v.needed_seconds * interval '1 second' "
            "RETURNING n.id, v.token",
            arrays.parameters(),
        )
        return set(cursor.fetchall())
