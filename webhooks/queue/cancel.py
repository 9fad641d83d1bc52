"""Ending what waits for an endpoint that takes no more."""

from __future__ import annotations

from uuid import UUID

from django.db.models.functions import Now

from notifyq.leasing import in_transaction_bounded, lock
from webhooks.models import WebhookEvent
from webhooks.status import EventStatus

LIMIT = 1000


def cancel_waiting(endpoint_id: UUID, limit: int = LIMIT) -> int:
    """PENDING → CANCELLED for the events of an endpoint that is disabled or deleted; they can be replayed later.

    Returns:
        How many, at most `limit`; the dispatchers go on with the rest. Safe to repeat. None when it is enabled.

    Transaction: one short one. Index: `webhook_event_claim`. Locks: the rows, passing over locked ones.
    """
    with in_transaction_bounded():
        waiting = WebhookEvent.objects.filter(
            status=EventStatus.PENDING, endpoint_id=endpoint_id, endpoint__enabled=False
        )
        ids = [row[0] for row in lock(waiting.order_by("due_at", "id"), ("id",), limit)]
        WebhookEvent.objects.filter(id__any=ids).update(status=EventStatus.CANCELLED, suspect=False, finished_at=Now())
    return len(ids)
