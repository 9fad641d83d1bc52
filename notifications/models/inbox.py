"""What stands in the inboxes of the clients' users."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models.client import Client
from notifications.models.notification import Notification
from notifyq.runtime.ids import uuid7

UNREAD = Q(read_at__isnull=True)


class InboxEntry(models.Model):
    """One notification in one user's inbox: made when the notification is SENT, once, and gone with it.

    Only `read_at` ever changes. An unread entry that a newer one with its collapse key replaces is deleted; its
    notification stays. Ids grow with time, those made together in the order of their notifications.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # The migration gives this key ON DELETE CASCADE in the database, so that retention may delete notifications
    # without knowing of inboxes. The client is the notification's, which holds it.
    notification = models.OneToOneField(
        Notification, on_delete=models.DO_NOTHING, related_name="inbox_entry", db_constraint=False
    )
    client = models.ForeignKey(
        Client, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    user_id = models.CharField(max_length=255, help_text="The notification's recipient.")
    subject = models.CharField(max_length=255, blank=True, default="")
    body = models.TextField()
    data = models.JSONField(blank=True, default=dict)
    collapse_key = models.CharField(max_length=64, blank=True, default="")
    send_at = models.DateTimeField(help_text="The notification's; of two with one collapse key the later is the newer.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="The notification's; an entry stays beyond it.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name_plural = "inbox entries"
        indexes: ClassVar = [
            models.Index("client", "user_id", "id", name="inbox_user"),
            # Counts and lists what is unread without a look at what is read.
            models.Index("client", "user_id", "id", condition=UNREAD, name="inbox_unread"),
            models.Index("client", "user_id", "collapse_key", condition=~Q(collapse_key=""), name="inbox_collapse"),
        ]

    def __str__(self) -> str:
        return f"inbox entry {self.id}"
