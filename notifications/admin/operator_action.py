"""Who did what."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin

from notifications.admin.notification import OfOneNotification
from notifications.models import OperatorAction
from notifyq.console import scrubs


@admin.register(OperatorAction)
class OperatorActionAdmin(OfOneNotification):
    masks: ClassVar = {name: scrubs(name) for name in ("reason", "details")}
    ordering = ("-id",)
    list_display = ("created_at", "action", "actor_kind", "actor", "status_before", "reason", "notification_link")
    list_filter = ("action", "actor_kind")
    fields = (
        *("notification_link", "action", "actor_kind", "actor", "reason", "status_before", "details", "created_at"),
    )
    readonly_fields = ("notification_link",)
