"""What the address of a list may ask: what its filters read and the console's own links name, and nothing else.

Django lets an address compare any column of a list with anything. So whoever sees a list could find out, letter by
letter, what it masks.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar, cast

from django.contrib import messages
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, ORDER_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

log = logging.getLogger(__name__)


class LookupRefused(Exception):
    """The address asks what the list does not offer, or in a form that cannot be read."""


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
        if not found[2].keys() <= set(cast(AllowsLookups, self.model_admin).linked_by):
            raise LookupRefused
        return found

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


def led_back(request: HttpRequest) -> HttpResponse:
    """To the same page without what it was asked, which neither log nor address holds: it is mostly private."""
    log.warning("lookup_refused", extra={"list": request.path})
    messages.warning(request, "This page cannot be filtered by that: it is shown as if nothing had been asked.")
    return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")


def _admin(found: AllowsLookups) -> ModelAdmin[Any]:
    return cast("ModelAdmin[Any]", found)


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
