"""What stands in users' inboxes."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from notifications import inbox
from notifications.admin.notification import OfOneNotification
from notifications.admin.search import FOUND_MOST
from notifications.models import InboxEntry
from notifyq.console import as_uuid, badge
from notifyq.roles import SEE_PRIVATE


class ReadFilter(admin.SimpleListFilter):
    """By whether it was read; its times would make a long list."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("unread", "unread"), ("read", "read")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[InboxEntry]) -> QuerySet[InboxEntry]:
        states = {"unread": True, "read": False}
        wanted = states.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(read_at__isnull=wanted)


@admin.register(InboxEntry)
class InboxEntryAdmin(OfOneNotification):
    """The list shows no content; an entry's own page does."""

    search_help_text = "The id of a notification, or exactly a user id."
    list_display = ("id", "user_id", "state", "client", "created_at")
    list_select_related = ("client",)
    list_filter: ClassVar[tuple[Any, ...]] = (ReadFilter, "client")
    fields = (
        *("id", "notification_link", "client", "user_id", "state", "created_at", "read_at", "expires_at"),
        *("collapse_key", "subject", "body", "data"),
    )
    readonly_fields = ("notification_link", "state")

    @admin.display(description="state")
    def state(self, entry: InboxEntry) -> SafeString:
        return badge("read", "quiet") if entry.read_at else badge("unread", "wait")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An entry is content through and through."""
        return request.user.has_perm(SEE_PRIVATE) and super().has_view_permission(request, obj)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term or as_uuid(term):
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(pk__in=inbox.entries(None, term).order_by("-pk").values("pk")[:FOUND_MOST]), False

    def get_queryset(self, request: HttpRequest) -> QuerySet[InboxEntry]:
        rows: QuerySet[InboxEntry] = super().get_queryset(request)
        in_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        return rows.defer("subject", "body", "data") if in_list else rows
