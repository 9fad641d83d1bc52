"""By what notifications wait for, as the list shows it: also those that are due and that no provider could take."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from notifications.models import Notification
from notifications.status import WaitingReason
from notifications.waiting import waits_for


class WaitingFilter(admin.SimpleListFilter):
    """By the reason that the list shows."""

    title = "waiting reason"
    parameter_name = "waiting_reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(reason.value, reason.value) for reason in WaitingReason]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Notification]) -> QuerySet[Notification]:
        reason = WaitingReason.__members__.get(self.value() or "")
        return queryset if reason is None else queryset.filter(waits_for(reason))
