"""The queue: the only module that changes a notification's status."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from notifications.models import Content, Notification
from notifications.status import Status
from notifyq.runtime.wakeup import ring_after_commit


def insert(pairs: Sequence[tuple[Notification, Content]]) -> set[UUID]:
    """Store new notifications with their content; one whose idempotency key is taken is left out.

    The unique constraint decides: an insert of the same key in another open transaction is waited for, and when that
    one is rolled back this one goes in.

    Args:
        pairs: unsaved rows, status PENDING.

    Returns:
        The ids that were stored. A repeat with the same keys stores nothing.

    Transaction: one of its own, or the caller's; the workers are woken after its commit.
    """
    with transaction.atomic():
        Notification.objects.bulk_create([n for n, _ in pairs], ignore_conflicts=True)
        ids = [n.pk for n, _ in pairs]
        stored = set(Notification.objects.filter(pk__in=ids).values_list("pk", flat=True))
        Content.objects.bulk_create([c for n, c in pairs if n.pk in stored])
        ring_after_commit()
    return stored


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
