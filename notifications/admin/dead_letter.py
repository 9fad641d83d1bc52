"""One dead letter as a row; the list of them is a page of its own, see `notifications.admin.dead_letters`."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from notifications.admin.notification import NotificationAdmin
from notifications.models import DeadLetter
from notifications.undelivered import UNDELIVERED


@admin.register(DeadLetter)
class DeadLetterAdmin(NotificationAdmin):
    """Read-only like every page of a row."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeadLetter]:
        rows: QuerySet[DeadLetter] = super().get_queryset(request).filter(status__in=UNDELIVERED)
        return rows

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("admin:dead-letters-list")
