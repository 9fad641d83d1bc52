"""One batch of a bulk act on notifications: the next rows in its order, and what is done to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from notifications.models import Action, BulkAction, Notification, OperatorAction
from notifications.queue.acts import Act
from notifications.queue.bulk_kinds import Batch, Place
from notifications.queue.bulk_selection import OUTCOMES, BulkSelection, actionable, matching
from notifications.queue.cancel import cancel_locked
from notifications.queue.reschedule import reschedule_locked
from notifications.queue.resolve import resolve_locked
from notifications.queue.retry import take_back
from notifyq.leasing import lock

WINDOW = 20_000
"""How many entries of the index one batch looks through: a filter that fits few rows must not hold up a worker."""


def walk(selection: BulkSelection, cutoff: datetime, place: Place | None, limit: int, act: Act) -> Batch:
    """Act on up to `limit` rows behind `place`.

    Rows that others hold are passed over and not waited for: a worker does this between two claims.

    Transaction: the caller's. Index: `notification_undelivered` or `notification_waiting`, WINDOW entries of it.
    Locks: the rows that are acted on.
    """
    rows, can, keys = matching(selection, cutoff), actionable(selection), selection.keys
    window_end = _window_end(selection, place)
    window = _until(_behind(rows, place), window_end)
    found = list(window.filter(can).order_by(*keys).values_list(*keys)[:limit])
    end = _place(found[-1]) if len(found) == limit else window_end
    skipped = _until(_behind(rows, place), end).exclude(can).exclude(_done_by(selection, act)).count()
    before = lock(rows.filter(can, id__any=[row[-1] for row in found]), ("id", "status"), limit) if found else []
    _do(selection, before, act)
    return Batch(len(before), skipped, len(found) - len(before), end)


def walk_stored(stored: dict[str, Any], cutoff: datetime, place: Place | None, limit: int, act: Act) -> Batch:
    """The same by a filter as it is stored."""
    return walk(BulkSelection.from_json(stored), cutoff, place, limit, act)


def _window_end(selection: BulkSelection, place: Place | None) -> Place | None:
    """The last row of the window; None when the index ends before. An index-only look."""
    rows = _behind(Notification.objects.filter(status=selection.status), place)
    keys = selection.keys
    ends = list(rows.order_by(*keys).values_list(*keys)[WINDOW - 1 : WINDOW])
    return _place(ends[0]) if ends else None


def _done_by(selection: BulkSelection, act: Act) -> Q | Exists:
    """What the act has done in a pass before, and still matches: only what was moved stays as it was otherwise."""
    if selection.action is not BulkAction.RESCHEDULE:
        return Q(pk__in=[])
    mine = OperatorAction.objects.filter(notification=OuterRef("pk"), details__contains=act.details)
    return Exists(mine.filter(action=Action.RESCHEDULE))


def _place(row: Sequence[Any]) -> Place:
    return Place(row[0] if len(row) > 1 else None, row[-1])


def _behind(rows: QuerySet[Notification], place: Place | None) -> QuerySet[Notification]:
    if place is None:
        return rows
    if place.at is None:
        return rows.filter(id__gt=place.id)
    # The first condition is the index's; an OR by itself would be none.
    return rows.filter(Q(finished_at__gt=place.at) | Q(id__gt=place.id), finished_at__gte=place.at)


def _until(rows: QuerySet[Notification], end: Place | None) -> QuerySet[Notification]:
    if end is None:
        return rows
    if end.at is None:
        return rows.filter(id__lte=end.id)
    return rows.filter(Q(finished_at__lt=end.at) | Q(id__lte=end.id), finished_at__lte=end.at)


def _do(selection: BulkSelection, before: Sequence[tuple[UUID, str]], act: Act) -> None:
    """Args: before: (id, status) of locked rows that can be acted on."""
    ids = [identity for identity, _ in before]
    if selection.action is BulkAction.RETRY:
        take_back(before, act, {})
    elif selection.action in OUTCOMES:
        resolve_locked(ids, OUTCOMES[selection.action], act)
    elif selection.action is BulkAction.CANCEL:
        cancel_locked(ids, act)
    elif selection.send_at is not None:
        reschedule_locked(ids, selection.send_at, act=act)
