"""What the charts of the overview are drawn from."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from notifications.models import OutcomeTally
from notifyq.console import ReadOnlyAdmin


@admin.register(OutcomeTally)
class OutcomeTallyAdmin(ReadOnlyAdmin):
    """Left out of the lists: the overview shows it better."""

    ordering = ("-at", "-id")
    list_display = fields = ("at", "span_seconds", "status", "channel", "count")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False
