"""An operator's word on notifications of which nobody knew whether they were sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from notifications.models import Action, Notification
from notifications.outcome import NOT_DELIVERED
from notifications.queue.acts import Act, record
from notifications.queue.outcomes import announce
from notifications.queue.retry import MAY_HAVE_BEEN_SENT
from notifications.status import Status

_NOT_DELIVERED_TEXT = "an operator found that it was not delivered"


def resolve(notification_id: UUID, outcome: Status, act: Act) -> bool:
    """DEAD_LETTERED as perhaps sent → SENT or FAILED. One conditional update; recorded, with the outcome.

    Returns:
        Whether this call did it: of several at once only one does.

    Transaction: the caller's, or one of its own.
    """
    with transaction.atomic():
        changed = _decide(_held(Notification.objects.filter(pk=notification_id)), outcome)
        if changed:
            _follow_up([notification_id], outcome, act)
    return changed == 1


def resolve_locked(ids: Sequence[UUID], outcome: Status, act: Act) -> None:
    """The same for rows locked in the present transaction, each DEAD_LETTERED as perhaps sent."""
    if ids:
        _decide(_held(Notification.objects.filter(id__any=ids)), outcome)
        _follow_up(ids, outcome, act)


def _held(rows: QuerySet[Notification]) -> QuerySet[Notification]:
    return rows.filter(MAY_HAVE_BEEN_SENT, status=Status.DEAD_LETTERED)


def _decide(rows: QuerySet[Notification], outcome: Status) -> int:
    sent = outcome is Status.SENT
    return rows.update(
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


def _follow_up(ids: Sequence[UUID], outcome: Status, act: Act) -> None:
    said = replace(act, details={**act.details, "outcome": outcome.value})
    record(Action.RESOLVE, said, [(identity, Status.DEAD_LETTERED) for identity in ids])
    announce(ids)
