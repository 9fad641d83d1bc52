"""The history of a webhook."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from webhooks.models.event import WebhookEvent


class WebhookAttempt(models.Model):
    """One call to one endpoint, with what came back. Append-only."""

    event = models.ForeignKey(
        WebhookEvent, on_delete=models.DO_NOTHING, related_name="attempts", db_constraint=False
    )  # ON DELETE CASCADE in the database, see the event
    cycle = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    response_status = models.PositiveSmallIntegerField(null=True)
    response_excerpt = models.TextField(blank=True, default="", help_text="The first KiB of the answer's body.")
    error_code = models.CharField(max_length=64, blank=True, default="", help_text="Empty after a 2xx.")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField()
    worker_id = models.CharField(max_length=80)
    claim_token = models.UUIDField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"attempt {self.cycle}.{self.number}: {self.error_code or self.response_status}"
