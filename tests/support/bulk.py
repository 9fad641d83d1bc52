"""Bulk acts for tests: begun, and made due as if time had passed."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.db import connection

from notifications import queue
from notifications.models import ActorKind, BulkAct, BulkAction, BulkStatus
from notifications.queue import Act, Actor, BulkSelection
from notifications.services.bulk import STATUSES
from tests.support.rows import database_now

OPERATOR = Actor(ActorKind.USER, "ops")


def begin(
    action: BulkAction = BulkAction.RETRY, *, rate: int = 1000, cutoff: Any = None, form_id: Any = None, **wanted: Any
):
    """An act whose rate has been unused for a second. Returns it as it is stored."""
    wanted.setdefault("status", STATUSES[action][0])
    made, _ = queue.begin_bulk(
        BulkSelection(action=action, **wanted),
        Act(OPERATOR, "the relay is back"),
        form_id=form_id or uuid4(),
        cutoff=cutoff or database_now(),
        rate_per_second=rate,
        previewed_count=None,
    )
    let_pass(made, 1.0)
    return made


def let_pass(act: BulkAct, seconds: float) -> None:
    """As if so much time had gone by for its rate."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE notifications_bulkact SET paced_at = paced_at - %s * interval '1 second' WHERE id = %s",
            [seconds, act.pk],
        )


def work_to_the_end(act: BulkAct, *, batches_most: int = 100) -> int:
    """Let batches be done until the act is over; returns how many were needed."""
    for number in range(1, batches_most + 1):
        let_pass(act, 1.0)
        queue.work_off(2.0)
        act.refresh_from_db()
        if act.status != BulkStatus.RUNNING:
            return number
    raise AssertionError(f"it is still {act.status} after {batches_most} batches")
