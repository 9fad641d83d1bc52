"""What the workers share about their providers."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.breaker import BreakerState
from notifications.channel import Channel

CLOSED, OPEN, HALF_OPEN = (Q(state=state) for state in BreakerState)


class ProviderHealth(models.Model):
    """The breaker of one provider on one channel; see `notifications.breaker`. No row: CLOSED, and never otherwise.

    Rows are made at the first failure and kept.
    """

    channel = models.CharField(max_length=8, choices=[(c.value, c.value) for c in Channel])
    provider = models.CharField(max_length=40)
    state = models.CharField(
        max_length=9, choices=[(s.value, s.value) for s in BreakerState], default=BreakerState.CLOSED
    )
    failures = models.PositiveIntegerField(default=0, help_text="In a row, while it is CLOSED.")
    failing_since = models.DateTimeField(null=True, help_text="Since when it is out of use without a break.")
    opened_at = models.DateTimeField(null=True, help_text="The latest opening.")
    probe_due_at = models.DateTimeField(null=True, help_text="From then on one call may be tried.")
    probe_token = models.UUIDField(null=True, help_text="Who holds the probe.")
    probe_until = models.DateTimeField(null=True, help_text="Then the probe is free again.")
    tripped = models.BooleanField(default=False, help_text="An operator keeps it open until an operator resets it.")
    trips = models.PositiveIntegerField(default=0, help_text="How often it has opened.")
    generation = models.PositiveBigIntegerField(default=0, help_text="Grows with each change of state.")
    last_error_code = models.CharField(max_length=64, default="", blank=True)
    last_error_message = models.CharField(max_length=500, default="", blank=True)
    last_error_at = models.DateTimeField(null=True)
    acted_by = models.CharField(max_length=150, default="", blank=True, help_text="Who tripped or reset it last.")
    acted_at = models.DateTimeField(null=True)
    act = models.CharField(max_length=8, default="", blank=True, help_text="TRIP or RESET.")
    act_reason = models.CharField(max_length=255, default="", blank=True)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["channel", "provider"]
        verbose_name = "breaker"
        verbose_name_plural = "providers"
        constraints: ClassVar = [
            models.UniqueConstraint("channel", "provider", name="provider_health_one_each"),
            models.CheckConstraint(condition=Q(state__in=list(BreakerState)), name="provider_health_state"),
            models.CheckConstraint(
                condition=CLOSED & Q(failing_since=None, opened_at=None, probe_due_at=None, tripped=False)
                | ~CLOSED & Q(failing_since__isnull=False, opened_at__isnull=False),
                name="provider_health_opened",
            ),
            models.CheckConstraint(
                condition=HALF_OPEN & Q(probe_token__isnull=False, probe_until__isnull=False, tripped=False)
                | ~HALF_OPEN & Q(probe_token=None, probe_until=None),
                name="provider_health_probe",
            ),
            # An open one is tried again some day, unless a person has said otherwise.
            models.CheckConstraint(
                condition=~OPEN | Q(tripped=True) | Q(probe_due_at__isnull=False), name="provider_health_probe_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.provider}"


class ProviderPace(models.Model):
    """How fast one provider may be called, over all channels and workers. No row: as fast as it goes."""

    provider = models.CharField(primary_key=True, max_length=40)
    spent_until = models.DateTimeField(
        null=True, help_text="The calls of its own rate are given away up to this instant."
    )
    throttled_until = models.DateTimeField(null=True, help_text="It asked not to be called before.")

    def __str__(self) -> str:
        return self.provider
