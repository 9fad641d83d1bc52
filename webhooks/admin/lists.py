"""Lists of endpoints, attempts and redeliveries. Secrets are never shown."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifyq.console import ReadOnlyAdmin, SearchedById, asks_first, badge, hides, instant, scrubs, tell
from webhooks import services
from webhooks.admin.backlog import backlog_of, listed, tell_missed
from webhooks.admin.filters import FailingFilter
from webhooks.models import Redelivery, WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.status import EventStatus
from webhooks.story import OPERATE, place_of

log = logging.getLogger(__name__)

ENABLING = (
    "A new beginning: what the service held against them is forgotten, and new events are sent there. What was "
    "cancelled or has failed meanwhile stays so, until it is redelivered."
)
DISABLING = (
    "Nothing more is sent there, and nothing of what happens meanwhile is recorded for them. What waits is cancelled."
)

QUICKER = "somebody else was quicker, and nothing was done."


def stand(endpoint: WebhookEndpoint) -> str:
    return f"{endpoint.enabled} {endpoint.disabled_at}"


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(SearchedById, ReadOnlyAdmin):
    masks: ClassVar = {"place": "host", "description": scrubs("description")}
    list_display = ("short_id", "client", "state", "place", "description", "since", "missed")
    list_display_links = ("short_id",)
    list_select_related = ("client",)
    list_filter = ("enabled", FailingFilter, "disabled_reason", "client")
    search_fields = ("id",)
    search_help_text = "An endpoint's id."
    search_keys = ("pk",)
    fieldsets = (
        (None, {"fields": ("state", "client", "place", "description", "events", "its_events")}),
        ("Health", {"fields": ("failing_since", "disabled_at", "disabled_reason", "deleted_at")}),
        ("Its row", {"fields": ("id", "previous_expires_at", "created_at", "updated_at")}),
    )
    readonly_fields = ("state", "place", "its_events")
    change_form_template = "console/webhook_endpoint.html"
    actions = ("enable", "disable")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEndpoint]:
        rows: QuerySet[WebhookEndpoint] = super().get_queryset(request)
        cancelled = WebhookEvent.objects.filter(endpoint=OuterRef("pk"), status=EventStatus.CANCELLED)
        # Index: webhook_event_cancelled, one entry for each endpoint of the page.
        with_missed = rows.annotate(has_missed=Exists(cancelled))
        return with_missed.defer("secret_encrypted", "previous_secret_encrypted")

    @admin.display(description="id")
    def short_id(self, endpoint: WebhookEndpoint) -> SafeString:
        return format_html('<span class="nq-id" title="{}">…{}</span>', endpoint.pk, str(endpoint.pk)[-12:])

    @admin.display(description="so since")
    def since(self, endpoint: WebhookEndpoint) -> SafeString | str:
        """Since when it has the state beside it; of one that is simply enabled nobody asks."""
        return instant(endpoint.deleted_at or endpoint.disabled_at or endpoint.failing_since)

    @admin.display(description="URL")
    def place(self, endpoint: WebhookEndpoint) -> str:
        return place_of(endpoint)

    @admin.display(description="URL")
    def host(self, endpoint: WebhookEndpoint) -> str:
        return place_of(endpoint, with_path=False)

    @admin.display(description="to redeliver")
    def missed(self, endpoint: WebhookEndpoint) -> SafeString | str:
        """Whether events were cancelled for it that nobody has had delivered since."""
        if not getattr(endpoint, "has_missed", False):
            return ""
        return format_html('<a href="{}">cancelled events</a>', listed(endpoint.pk, EventStatus.CANCELLED))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(OPERATE)

    @admin.action(description="Enable: send there again", permissions=["operate"])
    @asks_first("Enable", ENABLING, stand=stand)
    def enable(self, request: HttpRequest, rows: list[WebhookEndpoint], reason: str) -> None:
        self._set_enabled(request, rows, reason, enabled=True)

    @admin.action(description="Disable: send nothing there", permissions=["operate"])
    @asks_first("Disable", DISABLING, stand=stand)
    def disable(self, request: HttpRequest, rows: list[WebhookEndpoint], reason: str) -> None:
        self._set_enabled(request, rows, reason, enabled=False)

    def _set_enabled(self, request: HttpRequest, rows: list[WebhookEndpoint], reason: str, *, enabled: bool) -> None:
        done = "enabled" if enabled else "disabled"
        lines: list[str] = []
        left: list[str] = []
        changed: list[WebhookEndpoint] = []
        for row in rows:
            if row.deleted_at is not None:
                left.append(f"{row} is deleted: nothing can be done to it.")
                continue
            if not services.enable_endpoint(row.pk, enabled=enabled):
                left.append(f"{row} is {done} already." if row.enabled == enabled else f"{row}: {QUICKER}")
                continue
            log.warning("operator_changed_endpoint", extra={"endpoint_id": str(row.pk), "enabled": enabled})
            self.log_change(request, row, f"{done}: {reason}")
            lines.append(f"{row} is {done}.")
            changed.append(row)
        tell(request, left, f"{len(left)} are {done} already, or deleted.", messages.WARNING)
        tell(request, lines, f"{len(lines)} webhook endpoints are {done}.")
        if enabled:
            tell_missed(request, changed)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        found = self.get_object(request, unquote(object_id))
        may_act = found is not None and found.deleted_at is None and self.has_operate_permission(request)
        action = ("disable", "Disable") if found is not None and found.enabled else ("enable", "Enable")
        context = {"action": action if may_act else None, "backlog": backlog_of(found, may_act) if found else {}}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @admin.display(description="its events")
    def its_events(self, endpoint: WebhookEndpoint) -> SafeString:
        return format_html('<a href="{}">to the list</a>', listed(endpoint.pk))

    @admin.display(description="state")
    def state(self, endpoint: WebhookEndpoint) -> SafeString:
        if endpoint.deleted_at:
            return badge("deleted", "quiet")
        if not endpoint.enabled:
            return badge(f"disabled · {(endpoint.disabled_reason or 'by its owner').lower()}", "bad")
        return badge("failing", "wait") if endpoint.failing_since else badge("enabled", "good")


@admin.register(WebhookAttempt)
class WebhookAttemptAdmin(SearchedById, ReadOnlyAdmin):
    masks: ClassVar = {"response_excerpt": hides("response_excerpt")}
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
class RedeliveryAdmin(SearchedById, ReadOnlyAdmin):
    """Who had what delivered again, and why."""

    masks: ClassVar = {name: scrubs(name) for name in ("reason", "details")}
    list_display = ("id", "created_at", "actor", "event_id", "status_before", "reason")
    list_filter = ("actor_kind",)
    search_fields = ("event",)
    search_help_text = "The id of an event."
    search_keys = ("event_id",)
    ordering = ("-id",)
    fields = ("event", "created_at", "actor_kind", "actor", "reason", "status_before", "details")
