"""Taking a notification back before it is sent."""

from __future__ import annotations

from uuid import UUID

from django.db.models.functions import Now

from notifications.models import Notification
from notifications.status import Status


def cancel(notification_id: UUID) -> bool:
    """PENDING → CANCELLED, unless an earlier attempt may have been sent. One conditional update.

    Returns:
        Whether this call cancelled it. True means that it is never sent from here on.
    """
    waiting = Notification.objects.filter(pk=notification_id, status=Status.PENDING, unconfirmed_provider="")
    changed = waiting.update(
        status=Status.CANCELLED, waiting_reason="", suspect=False, finished_at=Now(), updated_at=Now()
    )
    return changed == 1
