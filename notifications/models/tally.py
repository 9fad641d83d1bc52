"""How many notifications ended how, minute by minute."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from notifications.channel import Channel
from notifications.status import FINAL, Status


class OutcomeTally(models.Model):
    """So many reached a final state in a span of time. Counted in the transaction of the outcome.

    A row is first added for each batch (`span_seconds` 0: who adds it waits for nobody), later these are folded into
    one for each minute, and after a day into one for each hour.
    """

    at = models.DateTimeField(help_text="Beginning of the span.")
    span_seconds = models.PositiveSmallIntegerField(default=0, db_default=0)
    status = models.CharField(max_length=16)
    channel = models.CharField(max_length=8)
    count = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "outcome tallies"
        indexes: ClassVar = [models.Index("at", name="outcome_tally_at")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                "span_seconds", "at", "status", "channel", condition=Q(span_seconds__gt=0), name="outcome_tally_folded"
            ),
            models.CheckConstraint(condition=Q(status__in=sorted(FINAL)), name="outcome_tally_status"),
            models.CheckConstraint(condition=Q(channel__in=list(Channel)), name="outcome_tally_channel"),
        ]

    def __str__(self) -> str:
        return f"{self.count} {Status(self.status)} on {self.channel}"
