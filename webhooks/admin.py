"""The operators' console: endpoints, events and attempts, read-only. Secrets are never shown."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications.admin.search import as_uuid
from notifyq.console import Link, ReadOnlyAdmin, ReadOnlyInline, add_link, badge
from webhooks import story  # noqa: F401 (it brings its part of a notification's page)
from webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.status import EventStatus
from webhooks.tones import TONES


class EventStatusFilter(admin.SimpleListFilter):
    """`status` has no choices in the model, and asking the table which occur would scan it."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, status.value) for status in EventStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[WebhookEvent]) -> QuerySet[WebhookEvent]:
        return queryset.filter(status=self.value()) if self.value() in set(EventStatus) else queryset


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "state", "url", "description", "failing_since", "disabled_at")
    list_select_related = ("client",)
    list_filter = ("enabled", "disabled_reason", "client")
    search_fields = ("id",)
    search_help_text = "An endpoint's id."
    fields = (
        *("id", "client", "state", "url", "description", "events", "failing_since", "disabled_at", "disabled_reason"),
        *("previous_expires_at", "created_at", "updated_at", "deleted_at"),
    )
    readonly_fields = ("state",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEndpoint]:
        rows: QuerySet[WebhookEndpoint] = super().get_queryset(request)
        return rows.defer("secret_encrypted", "previous_secret_encrypted")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint], search_term: str
    ) -> tuple[QuerySet[WebhookEndpoint], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        found = as_uuid(term)
        return (queryset.filter(pk=found) if found else queryset.none()), False

    @admin.display(description="state")
    def state(self, endpoint: WebhookEndpoint) -> SafeString:
        if endpoint.deleted_at:
            return badge("deleted", "quiet")
        if not endpoint.enabled:
            return badge(f"disabled · {(endpoint.disabled_reason or 'by its owner').lower()}", "bad")
        return badge("failing", "wait") if endpoint.failing_since else badge("enabled", "good")


class WebhookAttemptInline(ReadOnlyInline, admin.TabularInline):  # type: ignore[type-arg]
    model = WebhookAttempt
    fields = readonly_fields = (
        *("cycle", "number", "response_status", "error_code", "response_excerpt"),
        *("started_at", "finished_at", "worker_id"),
    )


class OfOneEvent(ReadOnlyAdmin):
    """Rows that are found by the id of an event, its notification or its endpoint."""

    search_keys: ClassVar[tuple[str, ...]] = ()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        found = as_uuid(term)
        if found is None:
            return queryset.none(), False
        condition = Q()
        for key in self.search_keys:  # each is the beginning of an index
            condition |= Q(**{key: found})
        return queryset.filter(condition), False


@admin.register(WebhookEvent)
class WebhookEventAdmin(OfOneEvent):
    list_display = (
        *("id", "type", "status_badge", "endpoint_id", "notification_id", "sequence", "attempt_count"),
        *("last_response_status", "last_error_code", "due_at", "finished_at"),
    )
    list_filter = (EventStatusFilter,)
    search_fields = ("id",)
    search_help_text = "The id of an event, a notification or an endpoint."
    search_keys = ("pk", "notification_id", "endpoint_id")
    inlines = (WebhookAttemptInline,)
    fields = (
        *("id", "type", "status_badge", "endpoint", "notification_link", "sequence", "cycle", "attempt_count"),
        *("last_response_status", "last_error_code", "created_at", "due_at", "finished_at", "worker_id"),
        *("lease_expires_at", "suspect", "body"),
    )
    readonly_fields = ("status_badge", "notification_link")

    @admin.display(description="status")
    def status_badge(self, event: WebhookEvent) -> SafeString:
        return badge(event.status, TONES.get(EventStatus(event.status), "quiet"))

    @admin.display(description="notification")
    def notification_link(self, event: WebhookEvent) -> SafeString | str:
        if event.notification_id is None:
            return "-"
        address = reverse("admin:notifications_notification_change", args=[event.notification_id])
        return format_html('<a href="{}">{}</a>', address, event.notification_id)


@admin.register(WebhookAttempt)
class WebhookAttemptAdmin(OfOneEvent):
    ordering = ("-id",)
    list_display = ("id", "event_id", "number", "response_status", "error_code", "finished_at", "worker_id")
    search_fields = ("event",)
    search_help_text = "The id of an event."
    search_keys = ("event_id",)
    fields = (
        *("event", "cycle", "number", "response_status", "error_code", "response_excerpt"),
        *("started_at", "finished_at", "worker_id"),
    )


add_link(Link("Webhooks", "admin:webhooks_webhookevent_changelist", "webhooks.view_webhookevent", 50))
