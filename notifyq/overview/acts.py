"""The bulk acts that are in hand: the front page says how far they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Case, DurationField, ExpressionWrapper, F, Q, When
from django.db.models.functions import Coalesce, Now

from notifications.admin.bulk import TONES, silent_seconds
from notifications.admin.bulk_kinds import kind_of
from notifications.models import BulkAct, BulkStatus

SHOWN_MOST = 8
FORGOTTEN_AFTER = timedelta(days=7)
"""One that was stopped or has failed, and that nobody has touched for so long, is left to the list."""


@dataclass(frozen=True, slots=True)
class ActInHand:
    """One that is not done.

    Attributes:
        operate: the permission to resume it.
        what: such as `Mark notifications as sent`.
        silent_seconds: how long no worker has worked on it, where that is too long; None otherwise.
        stopped_by, stopped_at: of one that is stopped, as its history has it.
    """

    row: BulkAct
    operate: str
    what: str
    tone: str
    silent_seconds: float | None
    stopped_by: str = ""
    stopped_at: datetime | None = None


def in_hand(*, is_delivering: bool) -> list[ActInHand]:
    """Those that run, then those that were stopped or failed of late, the newest first. One look at a small table.

    Args:
        is_delivering: whether some delivery worker was heard of just now.
    """
    quiet = ExpressionWrapper(Now() - Coalesce(F("worked_at"), F("created_at")), output_field=DurationField())
    running = Q(status=BulkStatus.RUNNING)
    rows = BulkAct.objects.exclude(status=BulkStatus.DONE).annotate(quiet_for=quiet)
    rows = rows.filter(running | Q(quiet_for__lt=FORGOTTEN_AFTER)).defer("selection")
    shown = rows.order_by(Case(When(running, then=0), default=1), "-pk")[:SHOWN_MOST]
    return [_shown(row, is_delivering=is_delivering) for row in shown]


def _shown(row: BulkAct, *, is_delivering: bool) -> ActInHand:
    silent = silent_seconds(row, is_delivering=is_delivering)
    shown = ActInHand(
        row, kind_of(row).operate, kind_of(row).on_many(row.action), TONES[BulkStatus(row.status)], silent
    )
    stops = [entry for entry in row.history if entry["what"] == BulkStatus.STOPPED]
    if row.status != BulkStatus.STOPPED or not stops:
        return shown
    return replace(shown, stopped_by=stops[-1]["by"], stopped_at=datetime.fromisoformat(stops[-1]["at"]))
