"""Deliveries to inboxes and pushes, as a worker settles them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from notifications import outcome, queue, services
from notifications.channel import Channel
from notifications.models import Client, InboxEntry, Notification
from notifications.queue import AttemptRecord, Claimed, Ending
from notifications.retry import Backoff
from notifications.verdict import Verdict
from tests.support.rows import claim

DEVICE = "fcm:token"


def settle(row: Claimed, verdict: Verdict) -> list[Ending]:
    """End the claimed notification with this verdict of its provider."""
    return queue.settle([ending(row, verdict)])


def ending(row: Claimed, verdict: Verdict) -> Ending:
    provider = "inbox" if row.channel is Channel.IN_APP else "sandbox"
    decision = outcome.after_verdict(
        row.standing, verdict, provider=provider, may_send_again=True, backoff=Backoff(1, 60), dice=random.Random(0)
    )
    record = AttemptRecord(
        row.cycle, row.standing.attempt_number, 1, provider, verdict.outcome, verdict.error_code, "", "", 1.0, 0.0, "w"
    )
    group = row.group_id if row.channel is Channel.PUSH else None
    return Ending(row.id, row.token, decision, (record,), push_group=group)


def accepted(row: Claimed) -> Ending:
    return ending(row, Verdict.accepted(str(row.id)))


def deliver(*channels: Channel) -> list[Ending]:
    """Claim what is due on these channels, and have it accepted."""
    return queue.settle([accepted(row) for row in claim(limit=100, channels=channels)])


def push_with_copy(client: Client, key: str = "k", device: str = DEVICE, **shared: Any) -> tuple[UUID, UUID]:
    """A push and the same for the inbox of the user `ada`; their ids."""
    targets = [{"channel": "PUSH", "recipient": device}, {"channel": "IN_APP", "recipient": "ada"}]
    group = services.submit_group(client, {"targets": targets, "body": "Hello", "idempotency_key": key, **shared})
    push, copy = group.notifications
    return push.pk, copy.pk


def claim_push() -> Claimed:
    [row] = claim(channels=[Channel.PUSH])
    return row


def status(notification_id: UUID) -> str:
    return Notification.objects.get(pk=notification_id).status


def bodies(user_id: str = "ada", **columns: Any) -> list[str]:
    """What stands in the inbox, the newest first."""
    return list(InboxEntry.objects.filter(user_id=user_id, **columns).order_by("-id").values_list("body", flat=True))


def entry_ids(user_id: str = "") -> Sequence[UUID]:
    """The notifications that have an entry; of one user only, when named."""
    rows = InboxEntry.objects.filter(user_id=user_id) if user_id else InboxEntry.objects.all()
    return list(rows.values_list("notification", flat=True))


def events(notification_id: UUID) -> list[dict[str, Any]]:
    """What webhooks are told of it."""
    from webhooks.models import WebhookEvent

    rows = WebhookEvent.objects.filter(notification=notification_id).order_by("sequence")
    return [json.loads(row.body) for row in rows]
