"""Giving a waiting notification another time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models import Action, Notification
from notifications.queue.acts import Act, record
from notifications.queue.admission import drop_reserved_slots
from notifications.status import Status, WaitingReason
from notifyq.runtime.wakeup import ring_after_commit


def reschedule(notification_id: UUID, send_at: datetime, *, later: bool, act: Act | None = None) -> bool:
    """Give a PENDING notification a new time, unless that is not before its expiry or an earlier attempt may have been
    sent. One conditional update; what waited behind a rate limit leaves its place there.

    Args:
        send_at: aware.
        later: it lies in the future.
        act: whose doing it was, when it was an operator's.

    Returns:
        Whether this call did it. True means that it is not sent before that time.

    Transaction: the caller's, or one of its own. Locks: waits for a worker that is about to claim the same row.
    """
    waiting = Notification.objects.filter(
        Q(expires_at__isnull=True) | Q(expires_at__gt=send_at),
        pk=notification_id,
        status=Status.PENDING,
        unconfirmed_provider="",
    )
    with transaction.atomic():
        changed = waiting.update(
            send_at=send_at,
            due_at=send_at,
            waiting_reason=WaitingReason.SCHEDULED if later else "",
            parked_by=None,
            promoted=False,
            updated_at=Now(),
        )
        if changed:
            drop_reserved_slots([notification_id])
            record(Action.RESCHEDULE, act, [(notification_id, Status.PENDING)])
            ring_after_commit()
    return changed == 1
