"""Where a client wants to be told of outcomes."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models import Client
from notifications.status import FINAL
from notifyq.runtime.ids import uuid7
from webhooks.egress import URL_MAX_LENGTH
from webhooks.status import DisabledReason


class WebhookEndpoint(models.Model):
    """One URL of one client, with the secret that signs what is sent there.

    A deleted one stays, without its secrets, for as long as its events do.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.PROTECT, related_name="+")
    url = models.CharField(max_length=URL_MAX_LENGTH)
    description = models.CharField(max_length=255, blank=True, default="")
    events = ArrayField(
        models.CharField(max_length=16), help_text="The final statuses of a notification that it wants to know of."
    )
    enabled = models.BooleanField(default=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(
        max_length=16,
        blank=True,
        default="",
        choices=[(r.value, r.value) for r in DisabledReason],
        help_text="Set when the service disabled it, not its owner.",
    )
    failing_since = models.DateTimeField(null=True, blank=True, help_text="The first failure after the last success.")
    secret_encrypted = models.TextField(editable=False)
    previous_secret_encrypted = models.TextField(blank=True, default="", editable=False)
    previous_expires_at = models.DateTimeField(
        null=True, blank=True, help_text="Until then the secret before the last rotation signs too."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(events__contained_by=sorted(FINAL)) & ~Q(events=[]), name="webhook_endpoint_events"
            ),
            models.CheckConstraint(
                condition=Q(disabled_reason__in=["", *DisabledReason]), name="webhook_endpoint_disabled_reason"
            ),
            models.CheckConstraint(
                condition=Q(enabled=True, disabled_at__isnull=True, disabled_reason="", deleted_at__isnull=True)
                | Q(enabled=False, disabled_at__isnull=False),
                name="webhook_endpoint_disabled",
            ),
        ]

    def __str__(self) -> str:
        return f"{urlsplit(self.url).hostname} …{str(self.id)[-12:]}"
