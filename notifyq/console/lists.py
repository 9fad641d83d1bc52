"""Lists and pages of rows: read-only, and never a count or a sort over a whole big table."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import DatabaseError, connection, models, transaction
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

from notifyq.console.privacy import Masks, scrubbed
from notifyq.console.search import SealsSearches
from notifyq.roles import SEE_PRIVATE

COUNTED_MOST = 10_000
COUNT_MILLISECONDS = 100


class EstimatingPaginator(Paginator):  # type: ignore[type-arg]
    """Counts exactly as far as that is quick; beyond it the planner's estimate must do. Goes no further into a list
    than COUNTED_MOST rows: all of them are read again for every page behind them."""

    @cached_property
    def num_pages(self) -> int:
        return min(super().num_pages, max(1, COUNTED_MOST // self.per_page))

    @property
    def is_cut(self) -> bool:
        """Whether there are rows behind the last page."""
        return self.num_pages * self.per_page < self.count

    @cached_property
    def count(self) -> int:
        rows = cast(models.QuerySet[Any], self.object_list).order_by()
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{COUNT_MILLISECONDS}ms"])
                counted = rows[:COUNTED_MOST].count()
                cursor.execute("SELECT set_config('statement_timeout', '0', true)")
        except DatabaseError:  # it took too long
            return self._estimate(rows)
        return counted if counted < COUNTED_MOST else max(counted, self._estimate(rows))

    def _estimate(self, rows: models.QuerySet[Any]) -> int:
        sql, values = rows.values("pk").query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", values)
            return int(cursor.fetchone()[0][0]["Plan"]["Plan Rows"])


class GuardedAdmin(Masks, SealsSearches, admin.ModelAdmin):  # type: ignore[type-arg]
    """A list whose actions are refused, and not only left undone, where they are not allowed."""

    when_empty: ClassVar[str] = ""
    """What a list without any row says: what would stand here, and what to do for it."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Refuses a form, which only somebody can have made by hand who may do nothing here."""
        if request.method not in ("GET", "HEAD") and not self.get_actions(request):
            raise PermissionDenied
        return super().changelist_view(request, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With the reasons that people gave, without addresses in them for those who may not see any."""
        answer = super().history_view(request, object_id, extra_context)
        if isinstance(answer, TemplateResponse) and not request.user.has_perm(SEE_PRIVATE):
            for entry in (answer.context_data or {}).get("action_list", ()):
                entry.change_message = scrubbed(entry.get_change_message())
        return answer


class ReadOnlyAdmin(GuardedAdmin):
    """Shows rows and changes none. Sorting is off: few orders have an index."""

    paginator = EstimatingPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each is a count over the whole table
    list_per_page = 50
    actions: Any = None
    sortable_by = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class ReadOnlyInline(Masks):
    """For an inline: shows the rows that belong to this one and changes none."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False
