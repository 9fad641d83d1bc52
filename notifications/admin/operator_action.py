"""Who did what to notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications.admin.filters import DoneFilter, PersonFilter, newest_of
from notifications.admin.notification import OfOneNotification
from notifications.admin.rows import short_id
from notifications.models import Action, OperatorAction
from notifyq.console import as_uuid, instant, scrubs

_OUTCOMES = {"SENT": "as sent", "FAILED": "as not delivered"}
_OF_BULK = Q(details__has_key="bulkAct")


class BulkFilter(admin.SimpleListFilter):
    """A bulk act leaves a record at each of its thousands of notifications: unless asked for, those are left out. They
    are not when somebody looks for the acts on one notification, or for those of one bulk act."""

    title = "bulk acts"
    parameter_name = "bulk"
    CHOICES = ((None, "without their single records"), ("all", "with them"), ("only", "only them"))

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, text) for value, text in self.CHOICES if value]

    # Django's has "All" for what is shown when nothing is chosen.
    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]  # the stubs want a list
        for value, text in self.CHOICES:
            changes, removed = ({self.parameter_name: value}, []) if value else ({}, [self.parameter_name])
            query = changelist.get_query_string(changes, removed)
            yield {"selected": self.value() == value, "query_string": query, "display": text}

    def queryset(self, request: HttpRequest, queryset: QuerySet[OperatorAction]) -> QuerySet[OperatorAction]:
        if self.value() == "only":
            return queryset.filter(_OF_BULK)
        if self.value() == "all" or as_uuid(request.GET.get("q", "").strip()):
            return queryset
        return queryset.exclude(_OF_BULK)


@admin.register(OperatorAction)
class OperatorActionAdmin(OfOneNotification):
    masks: ClassVar = {name: scrubs(name) for name in ("reason", "details")}
    ordering = ("-id",)
    list_display = ("at", "what", "actor", "status_before", "reason", "on", "bulk_act")
    list_filter = (BulkFilter, DoneFilter, "action", PersonFilter, "actor_kind")
    when_empty = (
        "Nobody has acted on a notification yet, but for what bulk acts did. Acts are done on a notification's page, "
        "in the list of notifications and in that of the dead letters; each leaves a line here."
    )
    search_fields = ("notification", "actor", "reason")
    search_help_text = (
        "The id of a notification or a bulk act; or part of a person's name, or of a reason you may read."
    )
    fields = (
        *("notification_link", "what", "actor_kind", "actor", "reason", "status_before", "bulk_act", "details"),
        "created_at",
    )
    readonly_fields = ("notification_link", "what", "bulk_act")

    @admin.display(description="when")
    def at(self, act: OperatorAction) -> SafeString | str:
        return instant(act.created_at)

    @admin.display(description="action")
    def what(self, act: OperatorAction) -> str:
        outcome = act.details.get("outcome") if act.action == Action.RESOLVE else None
        return f"{act.action}, {_OUTCOMES.get(str(outcome), outcome)}" if outcome else act.action

    @admin.display(description="notification")
    def on(self, act: OperatorAction) -> SafeString:
        address = reverse("admin:notifications_notification_change", args=[act.notification_id])
        name = short_id(act.notification_id)
        return format_html('<a class="nq-id" href="{}" title="{}">{}</a>', address, act.notification_id, name)

    @admin.display(description="bulk act")
    def bulk_act(self, act: OperatorAction) -> SafeString | str:
        identity = as_uuid(str(act.details.get("bulkAct", "")))
        if identity is None:
            return "-"
        return format_html('<a href="{}">{}</a>', reverse("admin:bulk-act", args=[identity]), short_id(identity))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": "Acts on notifications", **(extra_context or {})})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[OperatorAction], search_term: str
    ) -> tuple[QuerySet[OperatorAction], bool]:
        term = search_term.strip().replace("\0", "")
        found = as_uuid(term)
        if not term:
            return queryset, False
        if found:
            of_one = queryset.filter(notification=found)
            return (of_one if of_one.exists() else newest_of(queryset.filter(details__bulkAct=str(found)))), False
        said = Q(reason__icontains=term) if "reason" in self.get_search_fields(request) else Q()
        return newest_of(queryset.filter(Q(actor__icontains=term) | said)), False
