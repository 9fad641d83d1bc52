"""What people did to notifications."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models.notification import Notification
from notifications.status import Status


class Action(StrEnum):
    """What an operator can do to a notification."""

    RETRY = "RETRY"
    RESOLVE = "RESOLVE"
    CANCEL = "CANCEL"
    RESCHEDULE = "RESCHEDULE"


class ActorKind(StrEnum):
    """How a person was known: by an API key, or by a login to the console."""

    API_KEY = "API_KEY"
    USER = "USER"


class OperatorAction(models.Model):
    """One act of a person on one notification, written in the transaction of its effect.

    Append-only: triggers refuse any change, and a deletion unless the notification goes with it.
    """

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="operator_actions")
    action = models.CharField(max_length=16, choices=[(a.value, a.value) for a in Action])
    actor_kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in ActorKind])
    actor = models.CharField(max_length=150, help_text="The beginning of the API key, or the user's name.")
    reason = models.CharField(max_length=500, blank=True, default="")
    status_before = models.CharField(max_length=16, choices=[(s.value, s.value) for s in Status])
    details = models.JSONField(blank=True, default=dict)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(action__in=list(Action)), name="operator_action"),
            models.CheckConstraint(condition=Q(actor_kind__in=list(ActorKind)), name="operator_action_actor_kind"),
            models.CheckConstraint(condition=Q(status_before__in=list(Status)), name="operator_action_status_before"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"
