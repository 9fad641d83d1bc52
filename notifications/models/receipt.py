"""What providers reported later."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from notifications.models.notification import Notification
from notifications.receipts.making import WORD_MAX_LENGTH
from notifications.receipts.status import DeliveryStatus


class Receipt(models.Model):
    """One report of a provider on one message. Written once; only where it belongs is filled in later.

    It may come before the row says which message was sent, or while a worker holds the row: then it waits, and
    `look_at` says until when.
    """

    provider = models.CharField(max_length=40)
    event_id = models.CharField(max_length=255, help_text="The same for each repeat of the same report.")
    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="receipts", null=True)
    key = models.UUIDField(null=True, help_text="Our key, where the provider repeats it.")
    provider_message_id = models.CharField(max_length=255, blank=True, default="")
    status = models.CharField(max_length=16, choices=[(s.value, s.value) for s in DeliveryStatus])
    word = models.CharField(
        max_length=WORD_MAX_LENGTH,
        blank=True,
        default="",
        db_default="",
        help_text="The provider's own for the status.",
    )
    code = models.CharField(max_length=64, blank=True, default="")
    text = models.CharField(max_length=500, blank=True, default="")
    at = models.DateTimeField(null=True, help_text="When it happened, as the provider says.")
    received_at = models.DateTimeField(db_default=Now(), editable=False)
    credited = models.BooleanField(
        default=True, db_default=True, help_text="Whether its notification may have been sent through this provider."
    )
    look_at = models.DateTimeField(
        null=True, help_text="When its notification is looked for next; empty once it counts."
    )

    class Meta:
        # As it happened, where the provider says when; then as they came, and as they stood in one call.
        ordering: ClassVar = [Coalesce("at", "received_at"), "received_at", "id"]
        indexes: ClassVar = [
            models.Index("look_at", condition=Q(look_at__isnull=False), name="receipt_waiting"),
            models.Index("key", condition=Q(look_at__isnull=False, key__isnull=False), name="receipt_waiting_key"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint("provider", "event_id", name="receipt_event"),
            models.CheckConstraint(condition=Q(status__in=list(DeliveryStatus)), name="receipt_status"),
        ]

    def __str__(self) -> str:
        return f"{self.status} by {self.provider}"


class OnceToken(models.Model):
    """A token of a signature that does not cover the body: it is good for one body only, and goes when it is stale."""

    provider = models.CharField(max_length=40)
    token = models.CharField(max_length=100)
    body_hash = models.BinaryField(max_length=32)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [models.Index("seen_at", name="once_token_seen")]
        constraints: ClassVar = [models.UniqueConstraint("provider", "token", name="once_token")]

    def __str__(self) -> str:
        return f"a token of {self.provider}"
