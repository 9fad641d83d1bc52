"""Take one notification back before it is sent."""

from __future__ import annotations

from uuid import UUID

from notifications import queue, selectors
from notifications.errors import TooLate
from notifications.models import Client, Notification
from notifications.status import FINAL, Status

_TRIES = 5


def cancel(notification_id: UUID, client: Client | None) -> Notification:
    """Cancel a PENDING notification. When this returns, it is never sent.

    Safe to repeat: one that is CANCELLED already is returned as it is.

    Args:
        client: whose it must be; None for an operator, who may cancel anybody's.

    Raises:
        NotFound: no such notification, or another client's.
        TooLate: it has left PENDING, or an earlier attempt may have been sent.

    Transaction: one conditional update. Locks: waits for a worker that is about to claim the same row.
    """
    for _ in range(_TRIES):
        present = selectors.one(notification_id, client)
        if present.status == Status.CANCELLED:
            return present
        if present.status == Status.PENDING and queue.cancel(notification_id):
            return selectors.one(notification_id, client)
        _refuse_when_decided(present)
        # It was PENDING when read and claimed by the time of the update; it may be back by now, so look again.
    raise TooLate(Status.PROCESSING)


def _refuse_when_decided(present: Notification) -> None:
    open_attempt = bool(present.unconfirmed_provider) or present.status == Status.RECONCILING
    if present.status not in FINAL and open_attempt:
        raise TooLate(present.status, may_have_been_sent=True)
    if present.status != Status.PENDING:
        raise TooLate(present.status)
