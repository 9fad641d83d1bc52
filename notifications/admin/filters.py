"""Filters of lists that stay quick on a big table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from notifications import selectors
from notifyq.console.sealed import PRIVATE, seal

NEWEST = 100_000
"""What has no index is looked for among so many, the newest."""


class CreatedFilter(admin.SimpleListFilter):
    """By the time that stands in the id, which the primary key is ordered by."""

    title = "created"
    parameter_name = "created"
    SPANS: ClassVar = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, f"in the last {name}") for name in self.SPANS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        span = self.SPANS.get(self.value() or "")
        if span is None:
            return queryset
        since = selectors.database_now() - span
        return queryset.filter(pk__gte=UUID(int=int(since.timestamp() * 1000) << 80))


class TextFilter(admin.SimpleListFilter):
    """By exactly the text that is typed, among the newest rows."""

    template = "console/text_filter.html"
    takes_any_text = True
    parameter_name: str
    column: str

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("", "")]  # none would leave the filter out

    # Other things than Django's own template gets: this filter has a template of its own.
    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        """What the template's form needs; the other filters go along in it."""
        others = changelist.get_filters_params()
        others.pop(self.parameter_name, None)
        others |= {"q": [changelist.params["q"]]} if "q" in changelist.params else {}
        kept = [(name, seal(text) if name in PRIVATE else text) for name, texts in others.items() for text in texts]
        yield {"name": self.parameter_name, "value": self.value() or "", "kept": kept, "newest": NEWEST}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        text = (self.value() or "").strip().replace("\0", "")
        if not text:
            return queryset
        return newest_of(queryset.filter(**{self.column: text}))


def newest_of(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Those of the rows that are among the newest of their table."""
    newest = rows.model._default_manager.order_by("-pk").values_list("pk", flat=True)
    oldest = newest[NEWEST - 1 : NEWEST].first()  # None: there are fewer, and all are looked at
    return rows if oldest is None else rows.filter(pk__gte=oldest)


class DoneFilter(admin.SimpleListFilter):
    """By when something was done, of what people do: there is not much of it."""

    title = "when"
    parameter_name = "done"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, f"in the last {name}") for name in CreatedFilter.SPANS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        span = CreatedFilter.SPANS.get(self.value() or "")
        if span is None:
            return queryset
        return newest_of(queryset.filter(created_at__gte=selectors.database_now() - span))


class PersonFilter(TextFilter):
    title = "person"
    parameter_name = "person"
    column = "actor"


class ErrorFilter(TextFilter):
    title = "error code"
    parameter_name = "error_code"
    column = "last_error_code"


class ProviderFilter(TextFilter):
    title = "provider"
    parameter_name = "provider"
    column = "last_used_provider"
