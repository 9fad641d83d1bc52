"""Who is working."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now


class Worker(models.Model):
    """The heartbeat of one worker process. The row goes when the process ends in good order."""

    id = models.CharField(primary_key=True, max_length=80)
    role = models.CharField(max_length=16)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField(db_default=Now())
    beat_at = models.DateTimeField(db_default=Now(), db_index=True)
    progressed_at = models.DateTimeField(
        null=True, blank=True, help_text="When it last finished a delivery: alive is not yet progressing."
    )
    finished_count = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Deliveries it finished since it started."
    )
    seat_count = models.PositiveIntegerField(default=0, db_default=0, help_text="How many it can make at once.")
    held_count = models.PositiveIntegerField(default=0, help_text="Notifications it held at its last beat.")
    buffered_count = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Those of them that waited for a seat."
    )
    busy_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when it has held something at every beat."
    )

    class Meta:
        ordering: ClassVar = ["-beat_at", "id"]

    def __str__(self) -> str:
        return self.id
