"""How every kind of bulk act is asked for: a look at what matches, then the beginning of what was looked at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Generic, TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from notifications.admin.bulk_confirmation import (
    Confirmation,
    Preview,
    begin_confirmed,
    opened,
    tell_changed,
    too_old,
)
from notifications.errors import FieldError, InvalidRequest
from notifications.services import BulkFilter

Filter = TypeVar("Filter", bound=BulkFilter)
Seen = TypeVar("Seen", bound=Preview)
Values = dict[str, str]
Errors = tuple[FieldError, ...]


class BulkAsking(ABC, Generic[Filter, Seen]):
    """The two pages of one kind: `preview` and `begin`.

    Attributes:
        kind: keeps the forms of one kind from being sent to another.
        preview_name: of the look's page.
    """

    kind: ClassVar[str]
    preview_name: ClassVar[str]

    @abstractmethod
    def values_of(self, given: Mapping[str, str]) -> Values:
        """The filter's fields, empty where nothing was given."""

    @abstractmethod
    def values_from(self, selection: Filter) -> Values:
        """The same, of a filter that was read before."""

    @abstractmethod
    def blank(self, values: Values) -> Values | None:
        """What the form holds for somebody who has asked for nothing yet; None when something was asked."""

    @abstractmethod
    def read(self, values: Values) -> Filter:
        """The filter that the fields stand for.

        Raises:
            InvalidRequest: with all that is wrong.
        """

    @abstractmethod
    def ids_of(self, selection: Filter) -> dict[str, UUID | None]:
        """The fields that the form offers by their ids: it shows what was read."""

    @abstractmethod
    def look(self, selection: Filter, cutoff: datetime | None = None) -> Seen:
        """What it matches. Changes nothing."""

    @abstractmethod
    def form(self, request: HttpRequest, values: Values, errors: Errors = ()) -> HttpResponse:
        """The page without a look."""

    @abstractmethod
    def confirm(
        self, request: HttpRequest, values: Values, seen: Seen, confirmation: Confirmation, errors: Errors = ()
    ) -> HttpResponse:
        """The page with what was seen, to be confirmed."""

    def preview(self, request: HttpRequest) -> HttpResponse:
        """The filter, and what the act would do. Changes nothing."""
        values = self.values_of(request.GET)
        blank = self.blank(values)
        if blank is not None:
            return self.form(request, blank)
        try:
            selection = self.read(values)
        except InvalidRequest as problem:
            return self.form(request, values, problem.errors)
        return self._look(request, values, selection)

    def begin(self, request: HttpRequest) -> HttpResponse:
        """Begin what was confirmed; once for each form, however often it is sent."""
        confirmed = opened(request.POST.get("confirmation", ""), self.kind)
        if confirmed is None:
            return too_old(request, self.preview_name)
        values = self.values_of(request.POST)
        try:
            selection = self.read(values)
        except InvalidRequest as problem:
            return self.form(request, values, problem.errors)
        if selection.as_json() != confirmed.stored:
            tell_changed(request)
            return self._look(request, values, selection)

        def ask_again(errors: Errors) -> HttpResponse:
            seen = self.look(selection, confirmed.cutoff)
            again = Confirmation.of(seen, confirmed.form_id)
            return self.confirm(request, self.values_from(selection), seen, again, errors)

        return begin_confirmed(request, confirmed, selection, ask_again)

    def _look(self, request: HttpRequest, values: Values, selection: Filter) -> HttpResponse:
        seen = self.look(selection)
        read = {name: str(identity) for name, identity in self.ids_of(selection).items() if identity}
        return self.confirm(request, values | read, seen, Confirmation.of(seen))
