"""Endpoints, events and notifications for tests of webhooks, straight into the tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db.models.functions import Now

from notifications import queue as notification_queue
from notifications import selectors
from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models import Client, Content, Notification
from notifications.status import Status
from notifyq import secrets
from notifyq.runtime.ids import uuid7
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.status import FINAL, EventStatus

WORKER = "dispatcher-of-a-test"
SECRET = "whsec_" + "A" * 43 + "="


def a_client() -> Client:
    return Client.objects.create(name=f"client {uuid4()}")


def an_endpoint(url: str = "http://127.0.0.1:9/hook", *, secret: str = SECRET, **columns: Any) -> WebhookEndpoint:
    """An enabled endpoint that wants every outcome; `enabled=False` fills what hangs on it."""
    known: dict[str, Any] = {"events": [s.value for s in Status if s in ("SENT", "FAILED", "DEAD_LETTERED")]}
    if columns.get("enabled") is False:
        known["disabled_at"] = Now()
    client = columns.pop("client", None) or a_client()
    made = WebhookEndpoint.objects.create(
        client=client, url=url, secret_encrypted=secrets.encrypt(secret), **(known | columns)
    )
    made.refresh_from_db()
    return made


def notifications(count: int, *, client: Client, **columns: Any) -> list[UUID]:
    """So many that wait for a worker."""
    metadata = columns.pop("metadata", {})
    now = selectors.database_now()
    known = {
        "channel": Channel.EMAIL,
        "recipient": "ada@example.org",
        "priority": Priority.NORMAL,
        "max_attempts": 6,
        "on_unconfirmed": OnUnconfirmed.RETRY,
        "status": Status.PENDING,
        "send_at": now,
        "due_at": now,
    }
    rows = [
        Notification(
            id=uuid7(), client=client, idempotency_key=str(uuid4()), fingerprint=bytes(32), **(known | columns)
        )
        for _ in range(count)
    ]
    notification_queue.insert([(row, Content(notification=row, body="Hello", metadata=metadata)) for row in rows])
    return [row.pk for row in rows]


def an_event(endpoint: WebhookEndpoint | None = None, **columns: Any) -> WebhookEvent:
    """An event in the state asked for; a PROCESSING one is held by `WORKER`."""
    return some_events(endpoint or an_endpoint(), 1, **columns)[0]


def some_events(endpoint: WebhookEndpoint, count: int, **columns: Any) -> list[WebhookEvent]:
    status = columns.get("status", EventStatus.PENDING)
    now = selectors.database_now()
    known: dict[str, Any] = {
        "status": status,
        "sequence": 1,
        "type": "notification.sent",
        "due_at": now,
        "created_at": now,
    }
    if status == EventStatus.PROCESSING:
        known |= {"claim_token": uuid4(), "worker_id": WORKER, "lease_expires_at": now + timedelta(seconds=45)}
        known |= {"attempt_count": 1}
    if status in FINAL:
        known["finished_at"] = now
    rows = []
    for _ in range(count):
        identity = uuid7()
        known["body"] = f'{{"eventId":"{identity}","jobId":null,"type":"notification.sent","sequence":1}}'
        rows.append(WebhookEvent(id=identity, endpoint=endpoint, **(known | columns)))
    return WebhookEvent.objects.bulk_create(rows)


def moved(event: WebhookEvent, **seconds: float) -> None:
    """Move instants of one event by so many seconds from the database's now, such as `due_at=-1`."""
    changes = {name: Now() + timedelta(seconds=value) for name, value in seconds.items()}
    WebhookEvent.objects.filter(pk=event.pk).update(**changes)


def reloaded(event: WebhookEvent) -> WebhookEvent:
    return WebhookEvent.objects.get(pk=event.pk)
