"""The history of a notification."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from notifications.models.notification import Notification
from notifications.verdict import Outcome


class Attempt(models.Model):
    """One call to one provider, with its verdict. Append-only.

    `cycle` grows with each operator retry, `number` with each counted attempt in it, `hop` with each provider tried
    within one attempt.
    """

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="attempts")
    cycle = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    hop = models.PositiveSmallIntegerField()
    provider = models.CharField(max_length=40, blank=True)
    outcome = models.CharField(max_length=16, choices=[(o.value, o.value) for o in Outcome])
    error_code = models.CharField(max_length=64, blank=True, default="")
    error_message = models.CharField(max_length=500, blank=True, default="")
    provider_message_id = models.CharField(max_length=255, blank=True, default="")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField()
    worker_id = models.CharField(max_length=80)
    claim_token = models.UUIDField()

    class Meta:
        # Those of one settle are stored in no order.
        ordering: ClassVar = ["finished_at", "cycle", "number", "hop", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(outcome__in=list(Outcome)), name="attempt_outcome"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.cycle}.{self.number}.{self.hop}: {self.outcome}"
