"""Taking a notification back before it is sent."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from notifications.models import Notification
from notifications.queue.admission import drop_reserved_slots
from notifications.queue.outcomes import announce
from notifications.status import Status


def cancel(notification_id: UUID) -> bool:
    """PENDING → CANCELLED, unless an earlier attempt may have been sent. One conditional update.

    Returns:
        Whether this call cancelled it. True means that it is never sent from here on.

    Transaction: the caller's, or one of its own.
    """
    waiting = Notification.objects.filter(pk=notification_id, status=Status.PENDING, unconfirmed_provider="")
    with transaction.atomic():
        changed = waiting.update(
            status=Status.CANCELLED,
            waiting_reason="",
            suspect=False,
            parked_by=None,
            outcome_sequence=F("outcome_sequence") + 1,
            finished_at=Now(),
            updated_at=Now(),
        )
        if changed:
            announce([notification_id])
            drop_reserved_slots([notification_id])
    return changed == 1
