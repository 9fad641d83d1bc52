"""The list of webhook events, and each of them."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifyq.console import OwnPage, ReadOnlyAdmin, SearchedById, badge, instant
from webhooks.admin.event_page import page_of
from webhooks.admin.filters import LIST_FILTERS, bulk_values
from webhooks.models import WebhookEvent
from webhooks.status import EventStatus
from webhooks.story import OPERATE, answer_of, host_of
from webhooks.tones import TONES


@admin.register(WebhookEvent)
class WebhookEventAdmin(OwnPage, SearchedById, ReadOnlyAdmin):
    """Those who may can tick some to be delivered again, or go on to all that match."""

    change_list_template = "console/webhook_events.html"
    list_display = (*("short_id", "status_badge", "type", "at", "client", "tries", "answer", "when"),)
    list_display_links = ("short_id",)
    list_filter = LIST_FILTERS
    search_fields = ("id",)
    search_help_text = "The id of an event, a notification or an endpoint."
    search_keys: ClassVar[tuple[str, ...]] = ("pk", "notification_id", "endpoint_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEvent]:
        rows: QuerySet[WebhookEvent] = super().get_queryset(request)
        in_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        secrets = ("endpoint__secret_encrypted", "endpoint__previous_secret_encrypted")
        return rows.select_related("endpoint__client").defer(*(("body",) if in_list else ()), *secrets)

    def show(self, request: HttpRequest, row: WebhookEvent) -> HttpResponse:
        page = {**self.headed(request, f"Webhook event {row.pk}"), **page_of(request, row)}
        return TemplateResponse(request, "console/webhook_event.html", page)

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
        end = "" if event.endpoint.description else f" …{str(event.endpoint_id)[-4:]}"  # as in the filter beside it
        return format_html('<span title="{}">{}{}</span>{}', event.endpoint_id, host_of(event.endpoint), end, closed)

    @admin.display(description="client")
    def client(self, event: WebhookEvent) -> str:
        return event.endpoint.client.name

    @admin.display(description="tries")
    def tries(self, event: WebhookEvent) -> str:
        return f"{event.cycle}.{event.attempt_count}" if event.cycle > 1 else str(event.attempt_count)

    @admin.display(description="last answer")
    def answer(self, event: WebhookEvent) -> str:
        return answer_of(event)

    @admin.display(description="ended, or due")
    def when(self, event: WebhookEvent) -> SafeString | str:
        return instant(event.finished_at or event.due_at)
