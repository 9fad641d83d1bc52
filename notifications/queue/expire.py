"""Ending what has outlived its time to live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
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

Askable = Mapping[tuple[Channel, str], float]
"""(channel, provider) → how long after a send that provider can be asked about it, in seconds."""


def expire(limit: int = LIMIT, *, askable: Askable | None = None) -> Ended:
    """One bounded pass over waiting notifications whose time to live is over, due or not.

    Args:
        askable: the providers that can be asked; None for none of them.

    Returns:
        What it moved; call again at once when that is `limit` in all.

    Transaction: one short one. Index: `notification_expiry`. Safe with any number of callers at once.
    """
    with in_transaction_bounded():
        over = Notification.objects.filter(status=Status.PENDING, expires_at__lte=Now()).order_by("expires_at")
        columns = ("id", "channel", "unconfirmed_provider")
        rows = [dict(zip(columns, row, strict=True)) for row in lock(over, columns, limit)]
        ended = end_expired(rows, askable or {})
        if rows:
            drop_reserved_slots([row["id"] for row in rows])
    return ended


def end_expired(rows: Sequence[Mapping[str, Any]], askable: Askable) -> Ended:
    """PENDING → EXPIRED; where an earlier attempt may have been sent, RECONCILING if its provider can be asked, else
    DEAD_LETTERED. Their reserved slots are left for the caller to drop.

    Args:
        rows: `id, channel, unconfirmed_provider` and more of rows locked in the present transaction, status PENDING.
    """
    to_ask = [row for row in rows if (row["channel"], row["unconfirmed_provider"]) in askable]
    asked = {row["id"] for row in to_ask}
    return _ask_about(to_ask, askable) + _end([row for row in rows if row["id"] not in asked])


def _ask_about(rows: Sequence[Mapping[str, Any]], askable: Askable) -> Ended:
    waits = {row["id"]: askable[row["channel"], row["unconfirmed_provider"]] for row in rows}
    for wait_seconds in set(waits.values()):
        Notification.objects.filter(id__any=[i for i, wait in waits.items() if wait == wait_seconds]).update(
            status=Status.RECONCILING,
            due_at=Now() + timedelta(seconds=wait_seconds),
            waiting_reason="",
            parked_by=None,
            final_check=False,
            updated_at=Now(),
        )
    return Counter((Status.RECONCILING, Channel(row["channel"])) for row in rows)


def _end(rows: Sequence[Mapping[str, Any]]) -> Ended:
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
