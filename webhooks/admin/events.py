"""The list of webhook events, and each of them."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifyq.console import ReadOnlyAdmin, ReadOnlyInline, badge, hides, instant, scrubs
from webhooks.admin.filters import LIST_FILTERS, bulk_values
from webhooks.admin.lists import OfOneEvent
from webhooks.models import Redelivery, WebhookAttempt, WebhookEvent
from webhooks.status import EventStatus
from webhooks.story import OPERATE, answer_of, host_of
from webhooks.tones import TONES


class WebhookAttemptInline(ReadOnlyInline, admin.TabularInline):  # type: ignore[type-arg]
    model = WebhookAttempt
    masks: ClassVar = {"response_excerpt": hides("response_excerpt")}
    fields = readonly_fields = (
        *("cycle", "number", "response_status", "error_code", "response_excerpt"),
        *("started_at", "finished_at", "worker_id"),
    )


class RedeliveryInline(ReadOnlyInline, admin.TabularInline):  # type: ignore[type-arg]
    model = Redelivery
    masks: ClassVar = {name: scrubs(name) for name in ("reason", "details")}
    fields = readonly_fields = ("created_at", "actor", "reason", "status_before", "details")


@admin.register(WebhookEvent)
class WebhookEventAdmin(OfOneEvent, ReadOnlyAdmin):
    """Those who may can tick some to be delivered again, or go on to all that match."""

    change_list_template = "console/webhook_events.html"
    masks: ClassVar = {"body": hides("body")}
    list_display = (*("short_id", "status_badge", "type", "at", "tries", "answer", "when"),)
    list_display_links = ("short_id",)
    list_filter = LIST_FILTERS
    search_fields = ("id",)
    search_help_text = "The id of an event, a notification or an endpoint."
    search_keys: ClassVar[tuple[str, ...]] = ("pk", "notification_id", "endpoint_id")
    inlines = (WebhookAttemptInline, RedeliveryInline)
    fields = (
        *("id", "type", "status_badge", "endpoint", "notification_link", "sequence", "cycle", "attempt_count"),
        *("last_response_status", "last_error_code", "created_at", "due_at", "finished_at", "worker_id"),
        *("lease_expires_at", "suspect", "body"),
    )
    readonly_fields = ("status_badge", "notification_link")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEvent]:
        rows: QuerySet[WebhookEvent] = super().get_queryset(request)
        in_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        secrets = ("endpoint__secret_encrypted", "endpoint__previous_secret_encrypted")
        return rows.select_related("endpoint").defer("body", *secrets) if in_list else rows

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        shown: tuple[str, ...] = super().get_list_display(request)
        return ("tick", *shown) if request.user.has_perm(OPERATE) else shown

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may_act = request.user.has_perm(OPERATE)
        values = bulk_values(request.GET.dict()) if may_act else None
        address = f"{reverse('admin:webhook-redeliver-preview')}?{urlencode(values)}" if values else ""
        context = {"may_act": may_act, "bulk_address": address, "back": request.GET.urlencode()}
        return super().changelist_view(request, context | (extra_context or {}))

    @admin.display(description="tick")
    def tick(self, event: WebhookEvent) -> SafeString:
        return format_html(
            '<input type="checkbox" name="event" value="{}" aria-label="Tick …{}">', event.pk, str(event.pk)[-12:]
        )

    @admin.display(description="id")
    def short_id(self, event: WebhookEvent) -> SafeString:
        # The end tells them apart: the beginning of a version 7 UUID is the time.
        return format_html('<span class="nq-id" title="{}">…{}</span>', event.pk, str(event.pk)[-12:])

    @admin.display(description="status")
    def status_badge(self, event: WebhookEvent) -> SafeString:
        return badge(event.status, TONES.get(EventStatus(event.status), "quiet"))

    @admin.display(description="endpoint")
    def at(self, event: WebhookEvent) -> SafeString:
        closed = "" if event.endpoint.enabled else format_html(" {}", badge("disabled", "bad"))
        return format_html('<span title="{}">{}</span>{}', event.endpoint_id, host_of(event.endpoint), closed)

    @admin.display(description="tries")
    def tries(self, event: WebhookEvent) -> str:
        return f"{event.cycle}.{event.attempt_count}" if event.cycle > 1 else str(event.attempt_count)

    @admin.display(description="last answer")
    def answer(self, event: WebhookEvent) -> str:
        return answer_of(event)

    @admin.display(description="ended, or due")
    def when(self, event: WebhookEvent) -> SafeString | str:
        return instant(event.finished_at or event.due_at)

    @admin.display(description="notification")
    def notification_link(self, event: WebhookEvent) -> SafeString | str:
        if event.notification_id is None:
            return "-"
        address = reverse("admin:notifications_notification_change", args=[event.notification_id])
        return format_html('<a href="{}">{}</a>', address, event.notification_id)
