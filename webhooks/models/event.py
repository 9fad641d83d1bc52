"""The queue row of a webhook."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models import Notification
from notifyq.leasing.models import LeasedModel
from webhooks.models.endpoint import WebhookEndpoint
from webhooks.status import FINAL, EventStatus

PENDING = Q(status=EventStatus.PENDING)
CANCELLED = Q(status=EventStatus.CANCELLED)
PROCESSING = Q(status=EventStatus.PROCESSING)


class WebhookEvent(LeasedModel):
    """One thing to tell one endpoint. Its id is the receiver's `webhook-id`, its body never changes.

    Its status is changed by `webhooks.queue` alone.
    """

    # The migrations give both keys ON DELETE CASCADE in the database, so that retention may delete notifications
    # without knowing of webhooks.
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    notification = models.ForeignKey(
        Notification,
        on_delete=models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
        help_text="None for a test event.",
    )
    sequence = models.PositiveSmallIntegerField(help_text="Which outcome of the notification it tells.")
    type = models.CharField(max_length=40)
    body = models.TextField(help_text="Exactly what is sent.")
    cycle = models.PositiveSmallIntegerField(default=1, db_default=1, help_text="Grows with each replay.")
    last_error_code = models.CharField(max_length=64, blank=True, default="", db_default="")
    last_response_status = models.PositiveSmallIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        permissions: ClassVar = [("operate_webhookevent", "Can redeliver")]
        indexes: ClassVar = [
            # Its key is the claim's ORDER BY within one endpoint; the endpoints that have something waiting are found
            # by jumping from one to the next.
            models.Index("endpoint", "due_at", "id", condition=PENDING, name="webhook_event_claim"),
            models.Index("lease_expires_at", condition=Q(lease_expires_at__isnull=False), name="webhook_event_lease"),
            models.Index("endpoint", "id", name="webhook_event_endpoint"),
            # What an endpoint has missed while it was disabled.
            models.Index("endpoint", "id", condition=CANCELLED, name="webhook_event_cancelled"),
        ]
        constraints: ClassVar = [
            # Also what finds the events of a notification.
            models.UniqueConstraint("notification", "endpoint", "sequence", name="webhook_event_once"),
            models.CheckConstraint(condition=Q(status__in=list(EventStatus)), name="webhook_event_status"),
            models.CheckConstraint(
                condition=(
                    PROCESSING & Q(claim_token__isnull=False, lease_expires_at__isnull=False) & ~Q(worker_id="")
                    | ~PROCESSING & Q(claim_token__isnull=True, lease_expires_at__isnull=True, worker_id="")
                ),
                name="webhook_event_lease_held",
            ),
            models.CheckConstraint(
                condition=Q(status__in=sorted(FINAL), finished_at__isnull=False)
                | ~Q(status__in=sorted(FINAL)) & Q(finished_at__isnull=True),
                name="webhook_event_finished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"
