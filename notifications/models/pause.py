"""The kill switch."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.pausing import PauseScope
from notifyq.runtime.ids import uuid7


class Pause(models.Model):
    """Nothing of what it names is sent until it ends. The row goes once nothing is parked under it any more."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    scope = models.CharField(max_length=8, choices=[(s.value, s.value) for s in PauseScope])
    value = models.CharField(
        max_length=100, blank=True, default="", help_text="The channel, the provider, or the client's id."
    )
    reason = models.CharField(max_length=255, blank=True, default="")
    parking_id = models.UUIDField(default=uuid7, editable=False, help_text="What it keeps is parked under this.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    created_by = models.CharField(max_length=150, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["created_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint("scope", "value", condition=Q(ended_at__isnull=True), name="pause_one_each"),
            models.CheckConstraint(condition=Q(scope__in=list(PauseScope)), name="pause_scope"),
        ]

    client_name: str | None = None
    """Of a client's pause; `notifications.selectors` fills it in, from the client's own row."""

    def __str__(self) -> str:
        return f"{self.scope} {self.client_name or self.value}".strip()

    @property
    def control_name(self) -> str:
        """What the record of acts calls it; it stays the same whatever else is known."""
        return f"{self.scope} {self.value}".strip()
