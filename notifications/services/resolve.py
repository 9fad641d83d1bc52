"""Decide what became of a notification of which nobody knew whether it was sent. Only operators do."""

from __future__ import annotations

from uuid import UUID

from notifications import queue, selectors
from notifications.errors import InvalidRequest, TooLate
from notifications.models import Action, Notification
from notifications.queue import Act, Actor
from notifications.request.fields import Fields
from notifications.services.acts import log_act, read_reason
from notifications.status import Status

OUTCOMES = (Status.SENT, Status.FAILED)


def resolve(notification_id: UUID, actor: Actor, *, outcome: object, reason: object) -> Notification:
    """Make a dead letter that may have been sent SENT or FAILED. Of several calls at once one has an effect.

    Args:
        outcome: SENT when it was delivered, FAILED when it was not (it can then be retried without any risk).
        reason: how that is known.

    Raises:
        InvalidRequest: no such outcome, or no reason.
        NotFound: no such notification.
        TooLate: it is not held for an operator to decide.

    Transaction: one, with the record of the act, which says which outcome it was.
    """
    fields = Fields({"outcome": outcome, "reason": reason})
    chosen = fields.option("outcome", [o.value for o in OUTCOMES], required=True)
    text = read_reason(fields, required=True)
    if fields.errors or chosen is None:
        raise InvalidRequest(fields.errors)
    done = queue.resolve(notification_id, Status(chosen), Act(actor, text))
    present = selectors.one(notification_id, None)
    if not done:
        raise TooLate(present.status)
    log_act(Action.RESOLVE, actor, notification_id=notification_id)
    return present
