"""Taking notifications back before they are sent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from notifications.models import Action, Notification
from notifications.queue.acts import Act, record
from notifications.queue.admission import drop_reserved_slots
from notifications.queue.outcomes import announce
from notifications.status import Status
from notifyq.leasing import in_transaction_bounded

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Notifications that belong together: a group, or all with one reference.

    Attributes:
        client_ids: whose they have to be.
    """

    client_ids: Collection[UUID]
    group_id: UUID | None = None
    reference: str | None = None


def cancel(notification_id: UUID, act: Act | None = None) -> bool:
    """PENDING → CANCELLED, unless an earlier attempt may have been sent. One conditional update.

    Args:
        act: whose doing it was, when it was an operator's.

    Returns:
        Whether this call cancelled it. True means that it is never sent from here on.

    Transaction: the caller's, or one of its own.
    """
    with transaction.atomic():
        changed = _cancel(_waiting(Notification.objects.filter(pk=notification_id)))
        if changed:
            _follow_up([notification_id], act)
    return changed == 1


def cancel_together(together: Together, act: Act | None = None) -> int:
    """The same for all that belong together.

    Returns:
        How many this call cancelled; each of them is never sent from here on.

    Transaction: one per batch. Locks: the rows of a batch in the order of their ids, waiting for workers that are
    about to claim one of them. Index: `notification_group` or `notification_reference`.
    """
    cancelled = 0
    waiting = _waiting(_members(together)).order_by("pk")
    while True:
        with in_transaction_bounded():
            ids = list(waiting.select_for_update(no_key=True).values_list("pk", flat=True)[:BATCH])
            cancel_locked(ids, act)
        cancelled += len(ids)
        if len(ids) < BATCH:
            return cancelled
        waiting = waiting.filter(pk__gt=ids[-1])  # the index still holds those just cancelled: not over them again


def cancel_locked(ids: Sequence[UUID], act: Act | None) -> None:
    """Args: ids: of rows locked in the present transaction, PENDING and without an attempt that may have been sent."""
    if ids:
        _cancel(_waiting(Notification.objects.filter(id__any=ids)))
        _follow_up(ids, act)


def count_uncancelled(together: Together) -> int:
    """How many of those that belong together are not CANCELLED."""
    return _members(together).exclude(status=Status.CANCELLED).count()


def _members(together: Together) -> QuerySet[Notification]:
    if together.group_id is not None:
        return Notification.objects.filter(group_id=together.group_id, client__in=together.client_ids)
    # The index holds no empty reference, and nobody means all that have none.
    with_one = Notification.objects.exclude(reference="")
    return with_one.filter(reference=together.reference, client__in=together.client_ids)


def _waiting(rows: QuerySet[Notification]) -> QuerySet[Notification]:
    return rows.filter(status=Status.PENDING, unconfirmed_provider="")


def _cancel(rows: QuerySet[Notification]) -> int:
    return rows.update(
        status=Status.CANCELLED,
        waiting_reason="",
        suspect=False,
        parked_by=None,
        outcome_sequence=F("outcome_sequence") + 1,
        finished_at=Now(),
        updated_at=Now(),
    )


def _follow_up(ids: Sequence[UUID], act: Act | None) -> None:
    record(Action.CANCEL, act, [(identity, Status.PENDING) for identity in ids])
    announce(ids)
    drop_reserved_slots(ids)
