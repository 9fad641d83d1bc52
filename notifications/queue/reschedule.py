"""Giving a waiting notification another time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Case, DateTimeField, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan

from notifications.models import Action, Notification
from notifications.queue.acts import Act, record
from notifications.queue.admission import drop_reserved_slots
from notifications.status import Status, WaitingReason
from notifyq.runtime.instants import rfc3339
from notifyq.runtime.wakeup import ring_after_commit


def reschedule(notification_id: UUID, send_at: datetime, *, later: bool, act: Act | None = None) -> bool:
    """Give a PENDING notification a new time, unless that is not before its expiry or an earlier attempt may have been
    sent. One conditional update; what waited behind a rate limit leaves its place there.

    Args:
        send_at: aware.
        later: it lies in the future.
        act: whose doing it was, when it was an operator's; its record has both times.

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
        before = _send_times(waiting.select_for_update(no_key=True)) if act else {}
        changed = _move(waiting, send_at, WaitingReason.SCHEDULED if later else "")
        if changed:
            _follow_up([notification_id], send_at, before, act)
    return changed == 1


def reschedule_locked(ids: Sequence[UUID], send_at: datetime, *, act: Act | None) -> None:
    """The same for rows locked in the present transaction that are known to allow it."""
    if ids:
        later = GreaterThan(Value(send_at, DateTimeField()), Now())
        reason = Case(When(later, then=Value(WaitingReason.SCHEDULED)), default=Value(""))
        waiting = Notification.objects.filter(id__any=ids, status=Status.PENDING)
        before = _send_times(waiting) if act else {}
        _move(waiting, send_at, reason)
        _follow_up(ids, send_at, before, act)


def _move(rows: QuerySet[Notification], send_at: datetime, waiting_reason: str | Case) -> int:
    return rows.update(
        send_at=send_at,
        due_at=send_at,
        waiting_reason=waiting_reason,
        parked_by=None,
        promoted=False,
        updated_at=Now(),
    )


def _send_times(rows: QuerySet[Notification]) -> dict[UUID, datetime]:
    return dict(rows.values_list("pk", "send_at"))


def _follow_up(ids: Sequence[UUID], send_at: datetime, before: Mapping[UUID, datetime], act: Act | None) -> None:
    drop_reserved_slots(ids)
    if act is not None:
        said = replace(act, details={**act.details, "sendAt": rfc3339(send_at)})
        own = {identity: {"previousSendAt": rfc3339(at)} for identity, at in before.items()}
        record(Action.RESCHEDULE, said, [(identity, Status.PENDING) for identity in ids], own)
    ring_after_commit()
