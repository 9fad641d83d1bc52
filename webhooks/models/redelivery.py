"""What people had delivered again."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models import ActorKind
from webhooks.models.event import WebhookEvent
from webhooks.status import EventStatus


class Redelivery(models.Model):
    """One event that a person had delivered again, written in the transaction of its effect.

    Append-only: triggers refuse any change, and a deletion unless the event goes with it.
    """

    event = models.ForeignKey(
        WebhookEvent, on_delete=models.DO_NOTHING, related_name="redeliveries", db_constraint=False
    )  # ON DELETE CASCADE in the database, see the event
    actor_kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in ActorKind])
    actor = models.CharField(max_length=150, help_text="The beginning of the API key, or the user's name.")
    reason = models.CharField(max_length=500, blank=True, default="")
    status_before = models.CharField(max_length=16)
    details = models.JSONField(blank=True, default=dict, help_text="Of a bulk act its id, as `bulkAct`.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar = ["id"]
        verbose_name_plural = "redeliveries"
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(actor_kind__in=list(ActorKind)), name="redelivery_actor_kind"),
            models.CheckConstraint(condition=Q(status_before__in=list(EventStatus)), name="redelivery_status_before"),
        ]

    def __str__(self) -> str:
        return f"redelivery by {self.actor}"
