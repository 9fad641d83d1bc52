"""What the address of a list may ask: what its filters offer and the console's own links name, and nothing else.

Django lets an address compare any column of a list with anything. So whoever sees a list could find out, letter by
letter, what it masks. And of a value that a filter does not know it shows everything, or nothing, without a word.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar, cast
from urllib.parse import parse_qsl

from django.contrib import messages
from django.contrib.admin import FieldListFilter, ListFilter, ModelAdmin, RelatedFieldListFilter, SimpleListFilter
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, ORDER_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

log = logging.getLogger(__name__)
SHOWN_LENGTH = 60
"""Of a value that is told back."""


class LookupRefused(Exception):
    """The address asks what the list does not offer, or in a form that cannot be read.

    Args:
        problem: what is told to whoever asked.
    """

    def __init__(self, problem: str = "This page cannot be filtered by that") -> None:
        super().__init__("the address asks what the list does not offer")
        self.problem = problem


REFUSALS = (LookupRefused, DisallowedModelAdminToField)
"""What `led_back` answers."""


class AllowedChangeList(ChangeList):
    """Filters by nothing but what is allowed, and sorts only where there are columns to sort by."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().__init__(*args, **kwargs)
        except (IncorrectLookupParameters, DisallowedModelAdminLookup):
            raise LookupRefused from None

    def get_filters(self, request: HttpRequest) -> Any:
        """What no filter has taken is compared with the column of that name: only the console's links may do that."""
        found = super().get_filters(request)
        specs, left = found[0], found[2]
        if not left.keys() <= set(cast(AllowsLookups, self.model_admin).linked_by):
            raise LookupRefused
        asked = self.get_filters_params()
        for spec in specs:
            self._refuse_what_is_not_offered(spec, asked)
        # A filter without a choice is not shown; it has taken its value all the same, and done nothing with it.
        for name in asked.keys() - left.keys() - {name for spec in specs for name in spec.expected_parameters()}:
            raise LookupRefused(_unknown(name, asked[name]))
        return found

    def _refuse_what_is_not_offered(self, spec: ListFilter, asked: dict[str, Any]) -> None:
        names = [name for name in spec.expected_parameters() if name in asked]
        if not names or getattr(spec, "takes_any_text", False):
            return
        offered = self._offered(spec)
        for name in names:
            if len(asked[name]) != 1 or (name, asked[name][0]) not in offered:
                raise LookupRefused(_unknown(str(spec.title), asked[name]))

    def _offered(self, spec: ListFilter) -> set[tuple[str, str]]:
        """Names and values in the links of a filter, whatever kind of filter it is."""
        facets, self.add_facets = self.add_facets, False  # each is a count, for which the filters are asked for again
        try:
            links = [str(choice.get("query_string", "")) for choice in spec.choices(self)]
        finally:
            self.add_facets = facets
        return {pair for link in links for pair in parse_qsl(link.removeprefix("?"), keep_blank_values=True)}

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        if self.sortable_by is not None and not self.sortable_by:
            self.params.pop(ORDER_VAR, None)
        return super().get_ordering(request, queryset)


class AllowsLookups:
    """For the admin of a list."""

    linked_by: ClassVar[tuple[str, ...]] = ()
    """Columns that links of the console filter by, exactly, beside those of `list_filter`."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Whether it may be meant for a filter; which of these names one reads, `AllowedChangeList` sees."""
        paths = [_path(entry) for entry in _admin(self).get_list_filter(request)]
        return lookup in (*self.linked_by, *paths) or lookup.startswith(tuple(f"{path}__" for path in paths))

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """Rows are named by their key alone."""
        key = _admin(self).opts.pk
        return to_field in (key.name, key.attname)

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse | None:
        """Does nothing where a form, which somebody has made by hand, names what is no key of a row."""
        key = _admin(self).opts.pk
        if all(_is_key(key, text) for text in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            done: HttpResponse | None = super().response_action(request, *args, **kwargs)  # type: ignore[misc]
            return done
        messages.warning(request, "Nothing was done: the form names a row that cannot exist.")
        return None


class RelatedFilter(RelatedFieldListFilter):
    """Is there with a single choice too, once that is asked for: Django's drops it then."""

    def has_output(self) -> bool:
        return super().has_output() or bool(self.used_parameters and self.lookup_choices)


FieldListFilter.register(lambda field: bool(field.remote_field), RelatedFilter, take_priority=True)


def led_back(request: HttpRequest, refused: Exception) -> HttpResponse:
    """To the same page without what it was asked, which neither log nor address holds: it is mostly private."""
    log.warning("lookup_refused", extra={"list": request.path})
    problem = (refused if isinstance(refused, LookupRefused) else LookupRefused()).problem
    done = "" if request.method in ("GET", "HEAD") else " Nothing was done."
    messages.warning(request, f"{problem}: it is shown as if nothing had been asked.{done}")
    return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")


def _admin(found: AllowsLookups) -> ModelAdmin[Any]:
    return cast("ModelAdmin[Any]", found)


def _unknown(name: str, values: list[str]) -> str:
    shown = ", ".join(values)
    shown = shown if len(shown) <= SHOWN_LENGTH else f"{shown[:SHOWN_LENGTH]}…"
    return f"This page cannot be filtered by “{shown}”, which is no choice of its filter “{name}”"


def _path(entry: Any) -> str:
    """The column, or the parameter, that an entry of `list_filter` stands for."""
    found = entry[0] if isinstance(entry, list | tuple) else entry
    if isinstance(found, type) and issubclass(found, SimpleListFilter):
        return str(found.parameter_name)
    return str(getattr(found, "name", found))


def _is_key(key: Field[Any, Any], text: str) -> bool:
    try:
        key.clean(text, None)
    except ValidationError:
        return False
    return "\0" not in text
