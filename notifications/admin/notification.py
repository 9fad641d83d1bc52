"""Lists of notifications, and of what belongs to them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications import selectors, waiting
from notifications.admin.filters import CreatedFilter, ErrorFilter, ProviderFilter
from notifications.admin.matching import bulk_links
from notifications.admin.rows import short_id
from notifications.admin.search import find_notifications, find_same_recipient, find_same_reference
from notifications.admin.story import TellsStory
from notifications.admin.story.forms import legal_deeds
from notifications.admin.story.page import segments_of
from notifications.admin.ticked import Origin, offer, page_for
from notifications.admin.tones import DELIVERY_TONES, FOUND_TONES, OUTCOME_TONES, STATUS_TONES
from notifications.admin.waiting import WaitingFilter
from notifications.channel import Channel
from notifications.models import Attempt, Content, InboxEntry, LookUp, Notification, OperatorAction, Receipt
from notifications.outages import NO_OUTAGES
from notifications.receipts import DeliveryStatus
from notifications.status import Status
from notifications.story.acts import Deed, possible
from notifications.verdict import Found, Outcome
from notifyq.console import ReadOnlyAdmin, SearchedById, add_page, as_uuid, badge, instant, masked, scrubs
from notifyq.roles import SEE_PRIVATE

ORIGIN = Origin(
    label="Notifications",
    list_name="admin:notifications_notification_changelist",
    act_name="notifications-act",
    path="notifications/notification/act/",
    deeds=(Deed.RETRY, Deed.CANCEL, Deed.RESCHEDULE, Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED),
)
add_page(page_for(ORIGIN))


class StatusFilter(admin.SimpleListFilter):
    """By status. `status` has no choices in the model, and asking the table which occur would scan it."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, status.value) for status in Status]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Notification]) -> QuerySet[Notification]:
        if self.value() == Status.PROCESSING:
            queryset = queryset.filter(lease_expires_at__isnull=False)  # so are all of them, and it is an index
        return queryset.filter(status=self.value()) if self.value() in set(Status) else queryset


class SameReferenceFilter(admin.SimpleListFilter):
    """Whatever its client gave the reference of one notification, which is named by its id for the same reason."""

    title = "reference"
    parameter_name = "reference_of"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        found = request.GET.get(self.parameter_name, "")
        return [(found, "the same as one you came from")] if as_uuid(found) else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Notification]) -> QuerySet[Notification]:
        return find_same_reference(queryset, self.value()) if self.value() else queryset


class SameRecipientFilter(admin.SimpleListFilter):
    """Whatever went to the recipient of one notification, which is named by its id: a recipient in an address would
    end up in the logs of every proxy. Offered by that notification's page alone."""

    title = "recipient"
    parameter_name = "recipient_of"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        found = request.GET.get(self.parameter_name, "")
        return [(found, "the same as one you came from")] if as_uuid(found) else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Notification]) -> QuerySet[Notification]:
        return find_same_recipient(queryset, self.value()) if self.value() else queryset


@admin.register(Notification)
class NotificationAdmin(TellsStory, ReadOnlyAdmin):
    """The list shows no content; a notification's own page does, see `notifications.admin.story`."""

    list_display: tuple[str, ...] = (
        *("short_id", "status_badge", "error_code", "channel", "recipient", "tries", "due", "client"),
    )
    list_display_links = ("short_id",)
    list_filter: ClassVar[tuple[Any, ...]] = (
        *(StatusFilter, CreatedFilter, "channel", "priority", WaitingFilter, "client"),
        *(ErrorFilter, ProviderFilter, SameRecipientFilter, SameReferenceFilter),
    )
    linked_by = ("group_id", "recipient", "reference")
    list_select_related = ("client",)
    masks: ClassVar = {"recipient": "masked_recipient"}
    search_fields = ("id",)  # shows the box; what is searched is in search.py
    search_help_text = "Exactly an id, recipient, reference, user id, idempotency key or provider's message id."

    @admin.display(description="tick")
    def tick(self, notification: Notification) -> SafeString:
        name = short_id(notification.pk)
        return format_html('<input type="checkbox" name="row" value="{}" aria-label="Tick {}">', notification.pk, name)

    @admin.display(description="id")
    def short_id(self, notification: Notification) -> SafeString:
        return format_html('<span class="nq-id" title="{}">{}</span>', notification.pk, short_id(notification.pk))

    @admin.display(description="status")
    def status_badge(self, notification: Notification) -> SafeString:
        text = notification.status
        if notification.waiting_reason:
            text = f"{text} · {notification.waiting_reason.lower().replace('_', ' ')}"
        return badge(text, STATUS_TONES.get(Status(notification.status), "quiet"))

    # Short for the list, so that a line fits beside the filters in a window of 1,280 pixels.
    @admin.display(description="last error")
    def error_code(self, notification: Notification) -> str:
        return notification.last_error_code or "-"

    @admin.display(description="tries")
    def tries(self, notification: Notification) -> str:
        return f"{notification.attempt_count}/{notification.max_attempts}"

    @admin.display(description="due")
    def due(self, notification: Notification) -> SafeString | str:
        return instant(NO_OUTAGES.due_at(notification))

    @admin.display(description="last error")
    def last_error(self, notification: Notification) -> str:
        return ": ".join(filter(None, (notification.last_error_code, notification.last_error_message))) or "-"

    @admin.display(description="recipient")
    def masked_recipient(self, notification: Notification) -> str:
        return masked(notification.recipient)

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        shown: tuple[str, ...] = super().get_list_display(request)
        return ("tick", *shown) if _offered(request) else shown

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        answer = super().changelist_view(request, {**(extra_context or {}), "ticked": _offered(request)})
        shown = answer.context_data if isinstance(answer, TemplateResponse) else None
        if shown and "cl" in shown and not any(map(_is_held, shown["cl"].result_list)):
            shown["ticked"] = _offered(request, held=False)
        return answer

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """What is due and waits for a provider says so, and what is behind a full limit when it is due; neither stands
        in the row."""
        changes = super().get_changelist_instance(request)
        outages = waiting.outages()
        selectors.set_expected(changes.result_list)
        for notification in changes.result_list:
            reason = outages.reason(notification)
            notification.expected_at = outages.due_at(notification)
            notification.waiting_reason = reason
        return changes

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Notification], search_term: str
    ) -> tuple[QuerySet[Notification], bool]:
        term = search_term.strip()
        return (find_notifications(queryset, term) if term else queryset), False


def _is_held(notification: Notification) -> bool:
    return Deed.RESOLVE_SENT in legal_deeds(notification)


def _offered(request: HttpRequest, *, held: bool = True) -> dict[str, Any] | None:
    """The acts on what is ticked in the list: those that make sense for the status that is shown.

    Args:
        held: among the rows that are shown is one that may have been sent.
    """
    status = request.GET.get("status")
    deeds = possible(status) if status in set(Status) else ORIGIN.deeds
    if not held:
        deeds = tuple(deed for deed in deeds if deed not in (Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED))
    bulk = bulk_links(request.GET, deeds)
    return offer(request, ORIGIN, query=request.GET.urlencode(), bulk=bulk, deeds=deeds)


_OfOne = Attempt | Content | InboxEntry | LookUp | OperatorAction | Receipt


class OfOneNotification(SearchedById, ReadOnlyAdmin):
    """Rows of one notification: searched by its id."""

    search_fields: ClassVar[tuple[str, ...]] = ("notification",)
    search_help_text = "The id of a notification."
    search_keys = ("notification",)

    @admin.display(description="notification")
    def notification_link(self, row: _OfOne) -> SafeString | str:
        if row.notification_id is None:
            return "-"
        address = reverse("admin:notifications_notification_change", args=[row.notification_id])
        return format_html('<a href="{}">{}</a>', address, row.notification_id)


@admin.register(Attempt)
class AttemptAdmin(OfOneNotification):
    masks: ClassVar = {"error_message": scrubs("error_message")}
    ordering = ("-id",)
    list_display = (
        "id",
        "outcome_badge",
        "provider",
        "error_code",
        "cycle",
        "number",
        "hop",
        "finished_at",
        "worker_id",
    )
    list_filter = ("outcome",)
    fields = (
        *("notification_link", "cycle", "number", "hop", "provider", "outcome_badge", "error_code", "error_message"),
        *("provider_message_id", "started_at", "finished_at", "worker_id"),
    )
    readonly_fields = ("notification_link", "outcome_badge")

    @admin.display(description="outcome")
    def outcome_badge(self, attempt: Attempt) -> SafeString:
        return _outcome(attempt)


@admin.register(Receipt)
class ReceiptAdmin(OfOneNotification):
    """Also those that belong to no notification yet."""

    masks: ClassVar = {name: scrubs(name) for name in ("word", "code", "text", "event_id")}
    ordering = ("-id",)
    list_display = (
        *("id", "status_badge", "word", "provider", "code", "provider_message_id"),
        *("received_at", "look_at", "counts"),
    )
    list_filter = ("status", "credited")
    fields = (
        *("notification_link", "provider", "status_badge", "word", "counts", "code", "text"),
        *("at", "received_at", "look_at", "provider_message_id", "key", "event_id"),
    )
    readonly_fields = ("notification_link", "status_badge", "counts")

    @admin.display(description="credited")
    def counts(self, receipt: Receipt) -> str:
        return "yes" if receipt.credited else "no"

    @admin.display(description="status")
    def status_badge(self, receipt: Receipt) -> SafeString:
        return _delivery(receipt.status)


@admin.register(Content)
class ContentAdmin(OfOneNotification):
    """Left out of the index: a notification's page shows its content, and a list of them would have only ids."""

    ordering = ("-pk",)
    list_display = ("of_notification",)
    fields = (
        *("notification_link", "subject", "body", "segments", "html_body", "from_name", "reply_to", "collapse_key"),
        *("data", "metadata"),
    )
    readonly_fields = ("notification_link", "segments")

    @admin.display(description="notification")
    def of_notification(self, content: Content) -> str:
        return str(content.pk)

    @admin.display(description="segments")
    def segments(self, content: Content) -> str:
        return segments_of(content.body) if content.notification.channel == Channel.SMS else "-"

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm(SEE_PRIVATE) and super().has_view_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Content]:
        rows: QuerySet[Content] = super().get_queryset(request)
        in_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        return rows.only("pk") if in_list else rows


def badge_of_finding(look_up: LookUp) -> SafeString:
    return badge(look_up.found, FOUND_TONES.get(Found(look_up.found), "quiet"))


def _outcome(attempt: Attempt) -> SafeString:
    return badge(attempt.outcome, OUTCOME_TONES.get(Outcome(attempt.outcome), "quiet"))


def _delivery(status: str) -> SafeString:
    return badge(status, DELIVERY_TONES.get(DeliveryStatus(status), "quiet"))
