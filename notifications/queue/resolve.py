"""An operator's word on a notification of which nobody knew whether it was sent."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from notifications.models import Action, Notification
from notifications.outcome import NOT_DELIVERED
from notifications.queue.acts import Act, record
from notifications.queue.outcomes import announce
from notifications.queue.retry import MAY_HAVE_BEEN_SENT
from notifications.status import Status

_NOT_DELIVERED_TEXT = "an operator found that it was not delivered"


def resolve(notification_id: UUID, outcome: Status, act: Act) -> bool:
    """DEAD_LETTERED as perhaps sent → SENT or FAILED. One conditional update; recorded.

    Returns:
        Whether this call did it: of several at once only one does.

    Transaction: the caller's, or one of its own.
    """
    held = Notification.objects.filter(MAY_HAVE_BEEN_SENT, pk=notification_id, status=Status.DEAD_LETTERED)
    sent = outcome is Status.SENT
    with transaction.atomic():
        changed = held.update(
            status=outcome,
            provider=F("unconfirmed_provider") if sent else "",
            last_error_code="" if sent else NOT_DELIVERED,
            last_error_message="" if sent else _NOT_DELIVERED_TEXT,
            unconfirmed_provider="",
            unconfirmed_at=None,
            outcome_sequence=F("outcome_sequence") + 1,
            finished_at=Now(),
            updated_at=Now(),
        )
        if changed:
            record(Action.RESOLVE, act, [(notification_id, Status.DEAD_LETTERED)])
            announce([notification_id])
    return changed == 1
