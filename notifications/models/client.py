"""Producers and their keys."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from notifyq.runtime.ids import uuid7


class Scope(models.TextChoices):
    """What a key may do."""

    SEND = "send", "send: create, read, cancel the client's own"
    READ = "read", "read: read the client's own"
    INBOX = "inbox", "inbox: show the client's users their inboxes, nothing else"
    OPERATE = "operate", "operate: everything, for any client"


class Client(models.Model):
    """A producer of notifications: one application or team."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=100, unique=True)
    smtp_url_encrypted = models.TextField(
        blank=True, default="", editable=False, help_text="Its own SMTP relay; encrypted, since it may hold a password."
    )
    email_from = models.CharField(max_length=320, blank=True, default="", help_text="Its own sender address.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    disabled_at = models.DateTimeField(null=True, blank=True, help_text="Its keys are refused from this instant on.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A bearer key of one client. Only its SHA-256 is kept: the key is random, so it needs no slow hash."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.PROTECT, related_name="api_keys")
    prefix = models.CharField(
        max_length=16, unique=True, help_text="The public beginning of the key, to tell keys apart."
    )
    key_hash = models.BinaryField(max_length=32, editable=False)
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope.choices))
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="Kept to the minute.")
    form_id = models.UUIDField(
        null=True, unique=True, editable=False, help_text="Of the console's form that made it: one key for each."
    )

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"
