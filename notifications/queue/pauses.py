"""Pauses: what they keep is parked out of the claim's way, in its place in the order, and goes on when they end.

A claim parks only under a pause whose row it has locked against deletion, and a pause that has ended is deleted only
when nothing is parked under it. So nothing is ever parked under a pause that is gone, however late a claim commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from notifications.channel import Channel
from notifications.models import Control, ControlAction, Notification, Pause
from notifications.pausing import Pauses, PauseScope, usable_providers
from notifications.queue.control_acts import record_control
from notifications.status import Status, WaitingReason
from notifyq.leasing import Fixed, in_transaction_bounded, lock
from notifyq.leasing.arrays import literal
from notifyq.runtime.ids import uuid7
from notifyq.runtime.wakeup import notify_after_commit

UNPARK_LIMIT = 1000

_IN_FORCE = Fixed(lambda: Pause.objects.filter(ended_at=None).values_list("scope", "value", "parking_id"))
_ANY_ENDED = Fixed(lambda: Pause.objects.filter(ended_at__isnull=False).values_list("pk")[:1])

Row = Mapping[str, Any]
Serving = Callable[[Channel, str], Sequence[str]]
"""(channel, recipient) → the names of the providers that serve it."""


def nobody(channel: Channel, recipient: str) -> Sequence[str]:
    """No provider is known, so that the pause of none keeps anything."""
    return ()


def pauses_in_force() -> Pauses:
    """All of them, as they are now. One query on a table of a handful of rows."""
    return Pauses({(scope, value): parking_id for scope, value, parking_id in _IN_FORCE.rows()})


def begin_pause(scope: PauseScope, value: str, *, reason: str, created_by: str) -> tuple[Pause, bool]:
    """Put a pause in force; safe to repeat.

    Returns:
        The pause, and whether this call began it: False when the same was paused already.
    """
    while True:
        try:
            with transaction.atomic():
                notify_after_commit()  # whoever is idle reads it sooner than at its next poll
                made = Pause.objects.create(scope=scope, value=value, reason=reason, created_by=created_by)
                record_control(Control.PAUSE, made.control_name, ControlAction.PAUSE, by=created_by, reason=reason)
                return made, True
        except IntegrityError:
            present = Pause.objects.filter(scope=scope, value=value, ended_at=None).first()
            if present is not None:
                return present, False
            # It ended between the two statements.


def end_pause(pause_id: UUID, *, by: str, reason: str) -> Pause | None:
    """Let what the pause keeps go on; the workers un-park it. Safe to repeat.

    A notification with several providers, all paused, is parked under one of these pauses and has to be looked at
    again when any of them ends. So the end of one gives each of the others a new parking id, and an ended row in its
    place keeps the old one.

    Returns:
        The pause; None when none with this id is in force.

    Locks: the pauses of providers, in the order of their ids: a claim that parks under one of them is waited for.
    """
    with transaction.atomic():
        if not Pause.objects.filter(pk=pause_id, ended_at=None).update(ended_at=Now()):
            return None
        ended = Pause.objects.get(pk=pause_id)
        if ended.scope == PauseScope.PROVIDER:
            others = Pause.objects.filter(scope=PauseScope.PROVIDER, ended_at=None)
            for other in others.select_for_update().order_by("pk"):
                _renew(other)
        record_control(Control.PAUSE, ended.control_name, ControlAction.RESUME, by=by, reason=reason)
        notify_after_commit()
    return ended


def _renew(pause: Pause) -> None:
    Pause.objects.create(
        scope=pause.scope,
        value=pause.value,
        created_by=pause.created_by,
        parking_id=pause.parking_id,
        ended_at=Now(),
    )
    Pause.objects.filter(pk=pause.pk).update(parking_id=uuid7())


def keep_paused(rows: Sequence[Row], serving: Serving) -> tuple[list[Row], list[UUID]]:
    """Park those of a claim's rows that a pause keeps.

    Args:
        rows: `id, client_id, channel, recipient, unconfirmed_provider` and more by name, locked in the present
            transaction.
        serving: which providers each could be sent through.

    Returns:
        The other rows, and the ids of those that were kept. Those were parked, unless their pause ended meanwhile.
    """
    pauses = pauses_in_force()
    if not pauses.parking_ids:
        return list(rows), []
    kept: defaultdict[UUID, list[UUID]] = defaultdict(list)
    others: list[Row] = []
    for row in rows:
        usable = usable_providers(serving(Channel(row["channel"]), row["recipient"]), row["unconfirmed_provider"])
        parking_id = pauses.keeping(channel=row["channel"], client_id=row["client_id"], providers=usable)
        if parking_id is None:
            others.append(row)
        else:
            kept[parking_id].append(row["id"])
    for parking_id in _held_in_place(list(kept)) if kept else ():
        Notification.objects.filter(id__any=kept[parking_id]).update(
            parked_by=parking_id, waiting_reason=WaitingReason.PAUSED, updated_at=Now()
        )
    return others, [identity for ids in kept.values() for identity in ids]


def _held_in_place(parking_ids: Sequence[UUID]) -> list[UUID]:
    """Those whose pause is still there; it stays until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT parking_id FROM notifications_pause WHERE parking_id = ANY(%s::uuid[]) ORDER BY id FOR KEY SHARE",
            [literal(parking_ids)],
        )
        return [row[0] for row in cursor.fetchall()]


def release_paused(limit: int = UNPARK_LIMIT) -> int:
    """One bounded pass over pauses that have ended: what is parked under them may be claimed again, the best first.

    Returns:
        How many were un-parked; call again at once when that is `limit`.

    Transaction: one short one, none when no pause has ended. Index: `notification_parked`. Locks: the ended pauses,
    then rows, passing over locked ones. Safe with any number of callers at once.
    """
    if not _ANY_ENDED.rows():
        return 0
    released = 0
    with in_transaction_bounded():
        ended = Pause.objects.filter(ended_at__isnull=False).select_for_update(skip_locked=True).order_by("ended_at")
        for pause_id, parking_id in list(ended.values_list("pk", "parking_id")):
            if released < limit:
                released += _release(pause_id, parking_id, limit - released)
        if released:
            notify_after_commit()
    return released


def _release(pause_id: UUID, parking_id: UUID, limit: int) -> int:
    parked = Notification.objects.filter(status=Status.PENDING, parked_by=parking_id)
    ids = [row[0] for row in lock(parked.order_by("rank", "due_at", "id"), ("id",), limit)]
    if ids:
        Notification.objects.filter(id__any=ids).update(parked_by=None, waiting_reason="", updated_at=Now())
    if len(ids) < limit and not Notification.objects.filter(parked_by=parking_id).exists():
        Pause.objects.filter(pk=pause_id).delete()
    return len(ids)
