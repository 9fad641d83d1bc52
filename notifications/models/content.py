"""What is said, apart from the queue row."""

from __future__ import annotations

from django.db import models

from notifications.models.notification import Notification


class Content(models.Model):
    """The rendered content of one notification, written once with it and never changed."""

    notification = models.OneToOneField(
        Notification, on_delete=models.CASCADE, primary_key=True, related_name="content"
    )
    subject = models.CharField(max_length=255, blank=True, default="")
    body = models.TextField()
    html_body = models.TextField(blank=True, default="")
    from_name = models.CharField(max_length=255, blank=True, default="")
    reply_to = models.CharField(max_length=320, blank=True, default="")
    collapse_key = models.CharField(max_length=64, blank=True, default="")
    data = models.JSONField(blank=True, default=dict)
    metadata = models.JSONField(blank=True, default=dict)
    # The database gives it, so that whoever writes a row need not know of it.
    serial = models.IntegerField(
        db_default=models.Func(models.Value("notifications_content_serial_seq"), function="nextval"),
        editable=False,
        help_text="Unique until the sequence has gone once round.",
    )

    class Meta:
        verbose_name_plural = "content"

    def __str__(self) -> str:
        return f"content of {self.notification_id}"
