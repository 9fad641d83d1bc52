"""Rows to measure on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from django.db import connection

from notifications import queue
from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models import Client, Content, Notification
from notifications.queue import Claimer, Limits
from notifications.status import Status
from notifyq.bench.scratch import PREFIX

CHUNK = 1_000
CLAIMER = Claimer("bench", 300.0, Limits(None, 300.0))
BODY = "Your parcel is on its way and will be with you tomorrow between nine and twelve."


def prepare(count: int, *, ahead: timedelta = timedelta(0)) -> None:
    """Store so many notifications, due at once or so long ahead, with fresh statistics."""
    client, _ = Client.objects.get_or_create(name="bench")
    for start in range(0, count, CHUNK):
        queue.insert([_pair(client, ahead) for _ in range(min(CHUNK, count - start))])
    settle_down()


def renew() -> None:
    """Make all rows as they were when they were stored, which is quicker than to store them anew."""
    Notification.objects.exclude(status=Status.PENDING).update(
        status=Status.PENDING,
        claim_token=None,
        worker_id="",
        lease_expires_at=None,
        attempt_count=0,
        finished_at=None,
        outcome_sequence=0,
    )
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE notifications_attempt, ratelimits_slot, ratelimits_gate")
    settle_down()


def settle_down() -> None:
    """Take what earlier rounds left behind out of the way of the next."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def clear() -> None:
    """Remove every row.

    Raises:
        RuntimeError: this is no scratch database.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        (name,) = cursor.fetchone()
        if not name.startswith(PREFIX):
            raise RuntimeError(f"{name} is not a scratch database")
        cursor.execute("TRUNCATE notifications_client, ratelimits_slot, ratelimits_gate CASCADE")


def one() -> Notification:
    """Store one more notification, due at once."""
    client, _ = Client.objects.get_or_create(name="bench")
    pair = _pair(client, timedelta(0))
    queue.insert([pair])
    return pair[0]


def sent_count() -> int:
    return Notification.objects.filter(status=Status.SENT).count()


def _pair(client: Client, ahead: timedelta) -> tuple[Notification, Content]:
    key = uuid4().hex
    due_at = datetime.now(UTC) - timedelta(minutes=1) + ahead
    notification = Notification(
        client=client,
        idempotency_key=key,
        fingerprint=bytes(32),
        channel=Channel.EMAIL,
        recipient=f"{key}@example.com",  # everybody below their limit, as nearly always
        priority=Priority.NORMAL,
        status=Status.PENDING,
        due_at=due_at,
        send_at=due_at,
        max_attempts=6,
        on_unconfirmed=OnUnconfirmed.RETRY,
    )
    return notification, Content(notification=notification, subject="Parcel", body=BODY)
