"""Claims under a rate limit, and time moved in the ledger."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from notifications import queue
from notifications.models import Notification
from notifications.queue import Claimed, Claimer, Limits
from notifications.status import Status
from ratelimits.window import Limit


def claim_within(limit: Limit | None, most: int = 100, *, slot_seconds: float = 0.0) -> list[Claimed]:
    """Claim under this default limit."""
    return queue.claim(Claimer("worker", 60, Limits(limit, slot_seconds)), most).rows


def claimed_ids(limit: Limit | None, most: int = 100) -> list[UUID]:
    return [row.id for row in claim_within(limit, most)]


def pass_time(seconds: float) -> None:
    """Let so much time have passed for the ledger: its slots and gates are older by that."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ratelimits_slot SET slot_at = slot_at - %s * interval '1 second'", [seconds])
        cursor.execute("UPDATE ratelimits_gate SET release_at = release_at - %s * interval '1 second'", [seconds])


def parked_count() -> int:
    return Notification.objects.filter(status=Status.PENDING, parked_by__isnull=False).count()
