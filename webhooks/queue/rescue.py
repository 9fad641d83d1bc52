"""Taking back what a dead dispatcher held."""

from __future__ import annotations

import random
from typing import Any

from django.db.models.functions import Now

from notifyq.leasing import in_transaction_bounded, lock
from webhooks.models import WebhookEvent
from webhooks.outcome import LOST, Standing, after_loss
from webhooks.queue.settle import AttemptRecord, Ending, settle
from webhooks.queue.wake import wake_dispatchers_after_commit
from webhooks.status import EventStatus

LIMIT = 500
_COLUMNS = ("id", "claim_token", "endpoint_id", "worker_id", "cycle", "attempt_count", "suspect")
_DICE = random.Random()


def rescue(*, max_attempts: int, limit: int = LIMIT) -> int:
    """Take back events whose lease has expired. Whether they were delivered nobody knows: they are sent again, with
    the same id.

    Args:
        limit: bound on one pass; call again at once when that many came back.

    Returns:
        How many were taken back. Safe with any number of callers at once, and safe to repeat.

    Transaction: one short one. Index: `webhook_event_lease`. Locks: the rows, passing over locked ones.
    """
    with in_transaction_bounded():
        held = WebhookEvent.objects.filter(status=EventStatus.PROCESSING, lease_expires_at__lte=Now())
        lost = lock(held.order_by("lease_expires_at"), _COLUMNS, limit)
        rescued = settle([_lost(row, max_attempts) for row in lost], by="rescue")
        if rescued:
            wake_dispatchers_after_commit()
    return len(rescued)


def _lost(row: tuple[Any, ...], max_attempts: int) -> Ending:
    identity, token, endpoint_id, worker_id, cycle, attempt_count, suspect = row
    attempt = AttemptRecord(
        cycle=cycle,
        number=attempt_count,
        response_status=None,
        response_excerpt="",
        error_code=LOST,
        started_ago_seconds=None,
        finished_ago_seconds=0.0,
        worker_id=worker_id,
    )
    decision = after_loss(Standing(attempt_count, max_attempts, suspect), _DICE)
    return Ending(identity, token, endpoint_id, decision, attempt)
