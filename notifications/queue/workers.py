"""The heartbeats of the workers."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.db.models.functions import Now

from notifications.models import Worker

FORGET_AFTER = timedelta(hours=1)


def beat(worker_id: str, *, role: str, held_count: int) -> None:
    """Say that a worker process is alive, and forget those that have been silent for an hour. Safe to repeat."""
    changed = Worker.objects.filter(pk=worker_id).update(beat_at=Now(), held_count=held_count)
    if not changed:
        Worker.objects.create(
            pk=worker_id, role=role, host=socket.gethostname()[:255], pid=os.getpid(), held_count=held_count
        )
        Worker.objects.filter(beat_at__lt=Now() - FORGET_AFTER).delete()


def leave(worker_id: str) -> None:
    """Take the row away when a process ends, or is known to have died. Safe to repeat."""
    Worker.objects.filter(pk=worker_id).delete()
