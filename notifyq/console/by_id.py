"""Lists that are searched by an id."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from notifyq.console.mixin import AdminMixin


def as_uuid(term: str) -> UUID | None:
    """The id that `term` spells, or None."""
    try:
        return UUID(term)
    except ValueError:
        return None


class SearchedById(AdminMixin):
    """For the admin of rows that are found by the id of something, and by nothing else."""

    search_keys: ClassVar[tuple[str, ...]] = ()
    """The columns that may hold it, each the beginning of an index."""

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
        for key in self.search_keys:
            condition |= Q(**{key: found})
        return queryset.filter(condition), False
