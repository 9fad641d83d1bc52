"""What people did to the controls of sending: the breakers, the pauses and the rules of the rate limits."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Control(StrEnum):
    """What was acted upon."""

    BREAKER = "BREAKER"
    PAUSE = "PAUSE"
    LIMIT = "LIMIT"


class ControlAction(StrEnum):
    """What was done to it."""

    TRIP = "TRIP"
    RESET = "RESET"
    PAUSE = "PAUSE"
    RESUME = "RESUME"
    ADD = "ADD"
    CHANGE = "CHANGE"
    REMOVE = "REMOVE"


class ControlAct(models.Model):
    """One act of a person, by API, console or command, written in the transaction of its effect.

    Append-only: triggers refuse any change and any deletion. There are few, and they stay.
    """

    control = models.CharField(max_length=8, choices=[(c.value, c.value) for c in Control])
    name = models.CharField(
        max_length=120, help_text="Which one, such as SMS twilio, CHANNEL SMS, or SMS, all clients together."
    )
    action = models.CharField(max_length=8, choices=[(a.value, a.value) for a in ControlAction])
    actor = models.CharField(
        max_length=150, help_text="The client with the beginning of its key, the user's name, or who ran the command."
    )
    reason = models.CharField(max_length=255, blank=True, default="")
    before = models.CharField(
        max_length=60, blank=True, default="", db_default="", help_text="What a limit said until then; empty: nothing."
    )
    after = models.CharField(
        max_length=60, blank=True, default="", db_default="", help_text="What it says since; empty: nothing."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name = "act on a breaker, pause or limit"
        verbose_name_plural = "acts on breakers, pauses and limits"
        indexes: ClassVar = [models.Index(fields=["control", "name", "-id"], name="control_act_of_one")]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(control__in=list(Control)), name="control_act_control"),
            models.CheckConstraint(condition=Q(action__in=list(ControlAction)), name="control_act_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.name} by {self.actor}"
