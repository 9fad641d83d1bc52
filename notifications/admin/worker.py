"""Who is working."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib import admin
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.safestring import SafeString

from notifications.heartbeats import late_after_seconds
from notifications.models import Worker
from notifyq.console import ReadOnlyAdmin, badge


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("id", "role", "beat", "held_count", "host", "pid", "started_at", "beat_at")
    fieldsets = (
        (None, {"fields": ("beat", "role", "held_count", "seat_count", "finished_count")}),
        ("Where and since when", {"fields": ("host", "pid", "started_at", "beat_at", "progressed_at")}),
    )
    readonly_fields = ("beat",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        # By the database's clock: the one that the workers beat by.
        age = ExpressionWrapper(Now() - F("beat_at"), output_field=DurationField())
        rows: QuerySet[Worker] = super().get_queryset(request).annotate(beat_age=age)
        return rows

    @admin.display(description="last beat")
    def beat(self, worker: Worker) -> SafeString:
        age: timedelta = getattr(worker, "beat_age")  # noqa: B009 (an annotation)
        seconds = age.total_seconds()
        if seconds > settings.NOTIFYQ.worker_silent_after_seconds:
            return badge(f"{seconds:,.0f} s ago", "bad")
        return badge(f"{seconds:.0f} s ago", "wait" if seconds > late_after_seconds() else "good")
