"""The columns that a table needs to be leased from."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from notifyq.runtime.ids import uuid7


class LeasedModel(models.Model):
    """A row that workers claim, hold under a lease, and settle.

    While it is held, `claim_token` is the fencing token of the present claim: every later write matches it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    status = models.CharField(max_length=16)
    due_at = models.DateTimeField(db_default=Now(), help_text="Not claimed before this instant.")
    attempt_count = models.PositiveSmallIntegerField(default=0, db_default=0)
    claim_token = models.UUIDField(null=True, blank=True, help_text="Fencing token of the present claim.")
    worker_id = models.CharField(max_length=80, blank=True, default="", db_default="")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    suspect = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its worker died while holding it: claimed alone until it has a verdict.",
    )

    class Meta:
        abstract = True
