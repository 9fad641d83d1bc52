"""What a provider said when it was asked about a send that nobody was sure of."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from notifications.models.notification import Notification
from notifications.verdict import Found


class LookUp(models.Model):
    """One answer, and how often it was given: a provider may be asked for a month, and say the same all the time."""

    # The database deletes it with its notification; see the migration.
    notification = models.ForeignKey(
        Notification, on_delete=models.CASCADE, related_name="look_ups", db_constraint=False, db_index=False
    )
    cycle = models.PositiveSmallIntegerField()
    provider = models.CharField(max_length=40)
    found = models.CharField(max_length=16, choices=[(f.value, f.value) for f in Found])
    error_code = models.CharField(max_length=64, blank=True, default="")
    error_message = models.CharField(max_length=500, blank=True, default="")
    asked_count = models.PositiveIntegerField()
    first_asked_at = models.DateTimeField()
    last_asked_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["last_asked_at", "id"]
        constraints: ClassVar = [
            # Its index also finds those of one notification.
            models.UniqueConstraint(
                fields=["notification", "cycle", "provider", "found", "error_code"], name="look_up_answer"
            ),
            models.CheckConstraint(condition=Q(found__in=list(Found)), name="look_up_found"),
        ]

    def __str__(self) -> str:
        return f"look-up at {self.provider}: {self.found}"
