"""What providers said about sends in doubt."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.utils.safestring import SafeString

from notifications.admin.notification import OfOneNotification, badge_of_finding
from notifications.models import LookUp
from notifyq.console import scrubs


@admin.register(LookUp)
class LookUpAdmin(OfOneNotification):
    masks: ClassVar = {"error_message": scrubs("error_message")}
    ordering = ("-id",)
    list_display = ("id", "found_badge", "provider", "error_code", "asked_count", "last_asked_at")
    list_filter = ("found",)
    fields = (
        *("notification_link", "cycle", "provider", "found_badge", "error_code", "error_message"),
        *("asked_count", "first_asked_at", "last_asked_at"),
    )
    readonly_fields = ("notification_link", "found_badge")

    @admin.display(description="found")
    def found_badge(self, look_up: LookUp) -> SafeString:
        return badge_of_finding(look_up)
