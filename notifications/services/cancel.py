"""Take notifications back before they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from notifications import queue, selectors
from notifications.errors import InvalidRequest, TooLate
from notifications.models import Action, Client, Notification
from notifications.queue import Actor, Together
from notifications.request.fields import LABEL_MAX_LENGTH, Fields
from notifications.services.acts import TRIES, act_of, log_act, read_reason
from notifications.status import FINAL, Status


@dataclass(frozen=True, slots=True)
class CancelledTogether:
    """What came of cancelling several: how many this call cancelled, and for how many it came too late (neither
    counts those that were cancelled before)."""

    cancelled_count: int
    too_late_count: int


def cancel(
    notification_id: UUID, client: Client | None, actor: Actor | None = None, *, reason: object = None
) -> Notification:
    """Cancel a PENDING notification. When this returns, it is never sent.

    Safe to repeat: one that is CANCELLED already is returned as it is.

    Args:
        client: whose it must be; None for an operator, who may cancel anybody's.
        actor: the operator, for the record; None for a client.
        reason: the operator's, for the record.

    Raises:
        InvalidRequest: the reason is too long.
        NotFound: no such notification, or another client's.
        TooLate: it has left PENDING, or an earlier attempt may have been sent.

    Transaction: one conditional update. Locks: waits for a worker that is about to claim the same row.
    """
    fields = Fields({"reason": reason})
    act = act_of(actor, read_reason(fields))
    if fields.errors:
        raise InvalidRequest(fields.errors)
    for _ in range(TRIES):
        present = selectors.one(notification_id, client)
        if present.status == Status.CANCELLED:
            return present
        if present.status == Status.PENDING and queue.cancel(notification_id, act):
            log_act(Action.CANCEL, actor, notification_id=notification_id)
            return selectors.one(notification_id, client)
        refuse_when_decided(present)
        # It was PENDING when read and claimed by the time of the update; it may be back by now, so look again.
    raise TooLate(Status.PROCESSING)


def cancel_together(
    client: Client | None,
    actor: Actor | None = None,
    *,
    group_id: UUID | None = None,
    reference: str | None = None,
) -> CancelledTogether:
    """Cancel all PENDING notifications of a group, or with a reference. Those counted as cancelled are never sent.

    Safe to repeat.

    Args:
        client: whose they must be; None for an operator, who may cancel anybody's.
        actor: the operator, for the record; None for a client.

    Raises:
        InvalidRequest: not exactly one of `group_id` and `reference`.

    Transaction: one per 500 notifications, so a group is cancelled in one.
    """
    label = _read_which(group_id, reference)
    client_ids = selectors.client_ids() if client is None else [client.pk]
    together = Together(client_ids=client_ids, group_id=group_id, reference=label)
    cancelled_count = queue.cancel_together(together, act_of(actor))
    log_act(Action.CANCEL, actor, count=cancelled_count)
    return CancelledTogether(cancelled_count, queue.count_uncancelled(together))


def refuse_when_decided(present: Notification) -> None:
    """Raises `TooLate` when it has left PENDING, or an earlier attempt may have been sent."""
    open_attempt = bool(present.unconfirmed_provider) or present.status == Status.RECONCILING
    if present.status not in FINAL and open_attempt:
        raise TooLate(present.status, may_have_been_sent=True)
    if present.status != Status.PENDING:
        raise TooLate(present.status)


def _read_which(group_id: UUID | None, reference: object) -> str | None:
    fields = Fields({"group_id": group_id, "reference": reference})
    label = fields.text("reference", max_length=LABEL_MAX_LENGTH)
    if not fields.errors and (group_id is None) == (label is None):
        wanted = "must be given, or" if label is None else "must not be given together with"
        fields.wrong("group_id", "one_of", f"{wanted} reference")
        fields.wrong("reference", "one_of", f"{wanted} groupId")
    if fields.errors:
        raise InvalidRequest(fields.errors)
    return label
