"""Ending what has outlived its time to live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Case, F, Value, When
from django.db.models.functions import Now

from notifications.channel import Channel, OnUnconfirmed
from notifications.models import Notification
from notifications.outcome import Standing, out_of_time
from notifications.queue.admission import drop_reserved_slots
from notifications.queue.outcomes import announce
from notifications.status import Status
from notifyq.leasing import in_transaction_bounded, lock

LIMIT = 500


Ended = Counter[tuple[str, str]]
"""(status, channel) → how many went there."""


def expire(limit: int = LIMIT) -> Ended:
    """One bounded pass over waiting notifications whose time to live is over, due or not.

    Returns:
        What it ended; call again at once when that is `limit` in all.

    Transaction: one short one. Index: `notification_expiry`. Safe with any number of callers at once.
    """
    with in_transaction_bounded():
        over = Notification.objects.filter(status=Status.PENDING, expires_at__lte=Now()).order_by("expires_at")
        columns = ("id", "channel", "unconfirmed_provider")
        rows = [dict(zip(columns, row, strict=True)) for row in lock(over, columns, limit)]
        ended = end_expired(rows)
        if rows:
            drop_reserved_slots([row["id"] for row in rows])
    return ended


def end_expired(rows: Sequence[Mapping[str, Any]]) -> Ended:
    """PENDING → EXPIRED, or DEAD_LETTERED where an earlier attempt may have been sent. Their reserved slots are left
    for the caller to drop.

    Args:
        rows: `id, channel, unconfirmed_provider` and more of rows locked in the present transaction, status PENDING.
    """
    certain = out_of_time(Standing(1, 1))
    unsure = out_of_time(Standing(1, 1, OnUnconfirmed.HOLD, unconfirmed_provider="any"))
    if not rows:
        return Counter()

    def either(field: str) -> Case:
        return Case(
            When(unconfirmed_provider="", then=Value(getattr(certain, field))), default=Value(getattr(unsure, field))
        )

    ids = [row["id"] for row in rows]
    Notification.objects.filter(id__any=ids).update(
        status=either("status"),
        last_error_code=either("error_code"),
        last_error_message=either("error_message"),
        waiting_reason="",
        suspect=False,
        parked_by=None,
        final_check=False,
        outcome_sequence=F("outcome_sequence") + 1,
        finished_at=Now(),
        updated_at=Now(),
    )
    announce(ids)
    return Counter(
        ((unsure if row["unconfirmed_provider"] else certain).status, Channel(row["channel"])) for row in rows
    )
