"""The heartbeats of the workers."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.db.models import Case, F, When
from django.db.models.functions import Coalesce, Now

from notifications.models import Worker

FORGET_AFTER = timedelta(hours=1)


def beat(
    worker_id: str,
    *,
    role: str,
    held_count: int,
    buffered_count: int = 0,
    finished_count: int = 0,
    seat_count: int = 0,
) -> None:
    """Say that a worker process is alive, and forget those that have been silent for an hour. Safe to repeat.

    Args:
        held_count: what it holds now: notifications, or seats that a dispatcher has in use.
        buffered_count: those of them that wait for a seat.
        finished_count: calls it finished since it started; when this grows, it progresses.
        seat_count: how many it can make at once.
    """
    progressed = Case(When(finished_count__lt=finished_count, then=Now()), default=F("progressed_at"))
    changed = Worker.objects.filter(pk=worker_id).update(
        beat_at=Now(),
        held_count=held_count,
        buffered_count=buffered_count,
        busy_since=Coalesce(F("busy_since"), Now()) if held_count else None,
        progressed_at=progressed,
        finished_count=finished_count,
    )
    if not changed:
        Worker.objects.create(
            pk=worker_id,
            role=role,
            host=socket.gethostname()[:255],
            pid=os.getpid(),
            held_count=held_count,
            buffered_count=buffered_count,
            busy_since=Now() if held_count else None,
            finished_count=finished_count,
            seat_count=seat_count,
        )
        Worker.objects.filter(beat_at__lt=Now() - FORGET_AFTER).delete()


def leave(worker_id: str) -> None:
    """Take the row away when a process ends, or is known to have died. Safe to repeat."""
    Worker.objects.filter(pk=worker_id).delete()
