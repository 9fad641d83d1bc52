"""Aging: what has been due for long is served like a HIGH one."""

from __future__ import annotations

from datetime import timedelta

from django.db.models.functions import Now

from notifications.channel import Priority
from notifications.models import Notification
from notifications.status import Status
from notifyq.leasing import in_transaction_bounded, lock

PROMOTE_LIMIT = 500


def promote(due_for_seconds: float, limit: int = PROMOTE_LIMIT) -> int:
    """One bounded pass over notifications of a lower priority that have been due for at least so long.

    The rank is stored, since an order that depends on the time of day can use no index. Among the HIGH ones it takes
    its place by due time: before those that became due later, after the others.

    Returns:
        How many it promoted; call again at once when that is `limit`. Safe with any number of callers at once.

    Transaction: one short one. Index: `notification_claim`, its head for each rank. Locks: the rows, passing over
    locked ones.
    """
    waiting = Notification.objects.filter(status=Status.PENDING, suspect=False, parked_by=None)
    long_due = waiting.filter(due_at__lte=Now() - timedelta(seconds=due_for_seconds)).order_by("due_at", "id")
    promoted = 0
    with in_transaction_bounded():
        for rank in (Priority.NORMAL, Priority.LOW):
            if promoted < limit:
                ids = [row[0] for row in lock(long_due.filter(rank=rank), ("id",), limit - promoted)]
                Notification.objects.filter(id__any=ids).update(promoted=True)
                promoted += len(ids)
    return promoted
