"""What else waits for recipients that a claim has found over their limits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import connection

from notifications.models import Notification
from notifyq.leasing import Arrays
from notifyq.leasing.arrays import literal

Recipient = tuple[UUID, str, str]
"""(client, channel, recipient)."""


def lock_waiting(recipients: Sequence[Recipient], known: Collection[UUID], limit: int) -> list[tuple[UUID, Recipient]]:
    """Lock up to `limit` rows of these recipients that could be claimed now, the last ones first: so the next claim
    meets the first of what is left, and none has to be looked for again.

    Args:
        known: rows that are not meant.

    Returns:
        (id, recipient).

    Locks: FOR NO KEY UPDATE SKIP LOCKED on the rows. Index: `notification_ready`, once per recipient.
    """
    numbered = [(number, *recipient) for number, recipient in enumerate(recipients)]
    arrays = Arrays({"number": "int4", "client_id": "uuid", "channel": "text", "recipient": "text"}, numbered)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT v.number, n.id FROM {arrays.source('v')} CROSS JOIN LATERAL ("  # noqa: S608 (names from code, values bound)
            f"SELECT id FROM {Notification._meta.db_table} WHERE client_id = v.client_id AND recipient = v.recipient "
            "AND channel = v.channel AND status = 'PENDING' AND parked_by IS NULL AND NOT suspect "
            "AND due_at <= statement_timestamp() AND id <> ALL (%s::uuid[]) "
            "ORDER BY due_at DESC LIMIT %s FOR NO KEY UPDATE SKIP LOCKED) n LIMIT %s",
            [*arrays.parameters(), literal(known), limit, limit],
        )
        return [(identity, recipients[number]) for number, identity in cursor.fetchall()]
