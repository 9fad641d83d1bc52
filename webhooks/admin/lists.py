"""Lists of endpoints, attempts and redeliveries. Secrets are never shown."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications.admin.search import as_uuid
from notifyq.console import ReadOnlyAdmin, badge
from webhooks.models import Redelivery, WebhookAttempt, WebhookEndpoint


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "state", "url", "description", "failing_since", "disabled_at")
    list_select_related = ("client",)
    list_filter = ("enabled", "disabled_reason", "client")
    search_fields = ("id",)
    search_help_text = "An endpoint's id."
    fieldsets = (
        (None, {"fields": ("state", "client", "url", "description", "events", "its_events")}),
        ("Health", {"fields": ("failing_since", "disabled_at", "disabled_reason", "deleted_at")}),
        ("Its row", {"fields": ("id", "previous_expires_at", "created_at", "updated_at")}),
    )
    readonly_fields = ("state", "its_events")

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

    @admin.display(description="its events")
    def its_events(self, endpoint: WebhookEndpoint) -> SafeString:
        address = f"{reverse('admin:webhooks_webhookevent_changelist')}?endpoint={endpoint.pk}"
        return format_html('<a href="{}">to the list</a>', address)

    @admin.display(description="state")
    def state(self, endpoint: WebhookEndpoint) -> SafeString:
        if endpoint.deleted_at:
            return badge("deleted", "quiet")
        if not endpoint.enabled:
            return badge(f"disabled · {(endpoint.disabled_reason or 'by its owner').lower()}", "bad")
        return badge("failing", "wait") if endpoint.failing_since else badge("enabled", "good")


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


@admin.register(Redelivery)
class RedeliveryAdmin(OfOneEvent):
    """Who had what delivered again, and why."""

    list_display = ("id", "created_at", "actor", "event_id", "status_before", "reason")
    list_filter = ("actor_kind",)
    search_fields = ("event",)
    search_help_text = "The id of an event."
    search_keys = ("event_id",)
    ordering = ("-id",)
    fields = ("event", "created_at", "actor_kind", "actor", "reason", "status_before", "details")
