"""The tables of the rate limits."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifyq.runtime.ids import uuid7


class RateLimitRule(models.Model):
    """Takes the place of the default limit, for a channel, a client, or both. In force from the next claim on."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    channel = models.CharField(max_length=8, blank=True, default="", help_text="Empty: every channel.")
    client_id = models.UUIDField(
        null=True, blank=True, help_text="This client's notifications only, counted by themselves. Empty: all clients'."
    )
    limit_count = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Most sends to one recipient in any window. Empty: no limit.",
    )
    window_seconds = models.PositiveIntegerField(default=3600, validators=[MinValueValidator(1)])
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name = "rate limit rule"
        ordering: ClassVar = ["channel", "client_id"]
        constraints: ClassVar = [
            models.UniqueConstraint("channel", "client_id", name="rule_one_each", nulls_distinct=False),
            models.CheckConstraint(condition=Q(window_seconds__gte=1), name="rule_window"),
            models.CheckConstraint(condition=Q(limit_count__isnull=True) | Q(limit_count__gte=1), name="rule_limit"),
        ]

    client_name: str | None = None
    """Of a client's rule, where somebody has filled it in who knows the clients."""

    def __str__(self) -> str:
        return f"{self.holds_for}: {self.terms}"

    @property
    def holds_for(self) -> str:
        """Channel and client in words."""
        return f"{self.channel or 'every channel'}, {self.client_name or self.client_id or 'all clients together'}"

    @property
    def terms(self) -> str:
        """What it says in words."""
        return "no limit" if self.limit_count is None else f"{self.limit_count} in {self.window_seconds} s"

    @property
    def control_name(self) -> str:
        """What the record of acts calls it; it stays the same whatever the client is called."""
        return f"{self.channel or 'every channel'}, {self.client_id or 'all clients together'}"

    @property
    def stand(self) -> str:
        """How it stands: never twice the same, as long as `ratelimits.rules` changes it."""
        return f"{self.updated_at.timestamp()} {self.control_name}: {self.terms}"


class RequestMeter(models.Model):
    """How far a key has filled its allowance of requests. Unlogged: a crash forgets a minute at most."""

    key_id = models.UUIDField(primary_key=True, help_text="The API key.")
    empty_at = models.DateTimeField(help_text="When it has drained, if no request comes.")

    def __str__(self) -> str:
        return f"meter of {self.key_id}"


class Slot(models.Model):
    """One counted send: it uses up a place in its bucket until one window after `slot_at`.

    Without a claim token it is a reservation: its holder was let through and has not been claimed yet.
    """

    bucket = models.UUIDField()
    holder_id = models.UUIDField(db_index=True, help_text="The notification.")
    claim_token = models.UUIDField(null=True)
    slot_at = models.DateTimeField(help_text="The last instant at which the send may happen.")

    class Meta:
        indexes: ClassVar = [
            models.Index("bucket", "slot_at", name="slot_window"),
            models.Index("slot_at", name="slot_age"),
        ]

    def __str__(self) -> str:
        return f"slot of {self.holder_id}"


class Gate(models.Model):
    """Stands before a full bucket: while it does, all that comes for the bucket is parked behind it."""

    bucket = models.UUIDField(primary_key=True)
    channel = models.CharField(max_length=8)
    client_id = models.UUIDField(null=True, help_text="Set when the bucket is one client's own.")
    release_at = models.DateTimeField(db_index=True, help_text="When the next slot is expected to be free.")

    def __str__(self) -> str:
        return f"gate of {self.bucket}"
