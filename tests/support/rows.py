"""Rows of the queue, straight into the tables: for tests of what happens to them afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from notifications import queue
from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models import Attempt, Client, Content, Notification
from notifications.queue import Claimed, Claimer, Limits
from notifications.status import Status
from notifyq.runtime.ids import uuid7

RECIPIENTS = {
    Channel.EMAIL: "ada@example.org",
    Channel.SMS: "+41790000000",
    Channel.PUSH: "fcm:device",
    Channel.IN_APP: "ada",
}


def a_client() -> Client:
    return Client.objects.create(name=f"client {uuid4()}")


def add(count: int = 1, *, client: Client | None = None, body: str = "How are you?", **fields: Any) -> list[UUID]:
    """Store `count` notifications that wait; they are due at once unless `due_at` is given. Returns their ids."""
    client = client or a_client()
    rows = [_row(client, fields) for _ in range(count)]
    queue.insert([(row, Content(notification=row, body=body)) for row in rows])
    return [row.pk for row in rows]


def claim(
    *,
    worker_id: str = "worker",
    limit: int = 1,
    lease_seconds: float = 60,
    channels: Sequence[Channel] = (),
    suspects: bool = False,
) -> list[Claimed]:
    """Claim without any rate limit."""
    claimer = Claimer(worker_id, lease_seconds, Limits(None, lease_seconds), tuple(channels), suspects=suspects)
    return queue.claim(claimer, limit).rows


def _row(client: Client, fields: dict[str, Any]) -> Notification:
    channel = fields.get("channel", Channel.EMAIL)
    known = {
        "channel": channel,
        "recipient": RECIPIENTS[channel],
        "priority": Priority.NORMAL,
        "max_attempts": 6,
        "on_unconfirmed": OnUnconfirmed.RETRY,
        "status": Status.PENDING,
    }
    row = Notification(
        id=uuid7(), client=client, idempotency_key=str(uuid4()), fingerprint=b"\0" * 32, **(known | fields)
    )
    row.send_at = fields.get("due_at") or database_now()
    row.due_at = row.send_at
    return row


def database_now() -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def statuses(ids: Iterable[UUID] | None = None) -> Counter[str]:
    """How many notifications stand in each status."""
    rows = Notification.objects.all() if ids is None else Notification.objects.filter(id__any=list(ids))
    return Counter(rows.values_list("status", flat=True))


def all_are(status: Status, count: int) -> bool:
    return Notification.objects.filter(status=status).count() == count


def attempts_of(notification_id: UUID) -> list[tuple[int, str, str]]:
    """(number, outcome, error code) of each attempt, in order."""
    return list(
        Attempt.objects.filter(notification=notification_id)
        .values_list("number", "outcome", "error_code")
        .order_by("id")
    )


def move(notification_id: UUID, **seconds: float) -> None:
    """Move instants of one row by so many seconds from the database's now, such as `lease_expires_at=-1`."""
    sets = ", ".join(f"{column} = now() + %s * interval '1 second'" for column in seconds)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE notifications_notification SET {sets} WHERE id = %s", [*seconds.values(), notification_id]
        )
