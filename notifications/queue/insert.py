"""New notifications."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from notifications.models import Content, Notification
from notifyq.leasing import insert_new
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
        stored = insert_new(Notification, [n for n, _ in pairs])
        insert_new(Content, [c for n, c in pairs if n.pk in stored])
        ring_after_commit()
    return stored
