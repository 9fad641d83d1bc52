"""The search box of a list: what is typed comes sealed in the address, see `notifyq.console.sealed`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, cast

from django.contrib import messages
from django.contrib.admin.views.main import ChangeList, ChangeListSearchForm
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.text import capfirst

from notifyq.console import sealed
from notifyq.console.lookups import AllowedChangeList, AllowsLookups
from notifyq.console.words import masked
from notifyq.roles import SEE_PRIVATE

View = Callable[..., HttpResponseBase]
ADDRESS_MOST = 4_000
"""Characters; the server in front of Django takes no request line of more than 4,094."""
TOO_LONG = "Nothing was searched for: what was typed is too long."


class SealedSearchForm(ChangeListSearchForm):
    """Opens the term; one that cannot be opened is told, and nothing is searched for."""

    def clean_q(self) -> str:
        try:
            return sealed.opened(self.cleaned_data["q"])
        except sealed.Unopened:
            raise ValidationError(f"What was searched for {sealed.UNREADABLE}") from None


class SealedChangeList(AllowedChangeList):
    """All its links carry the term as it came, sealed."""

    search_form_class = SealedSearchForm

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self._sees_private = request.user.has_perm(SEE_PRIVATE)
        super().__init__(request, *args, **kwargs)
        self.title = str(capfirst(self.opts.verbose_name_plural))  # Django's asks people to select something

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)
        return found | {name: _opened(found[name]) for name in sealed.PRIVATE if name in found}

    @property
    def shown_query(self) -> str:
        """The term for the box; empty for those who may not see whom it may name."""
        return self.query if self._sees_private else ""

    @property
    def masked_query(self) -> str:
        """What those see instead."""
        return masked(self.query) if self.query and not self._sees_private else ""


class SealsSearches(AllowsLookups):
    """For the admin of a list."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Of two who store the same at once, one sees it only when the database refuses: the form is looked at once
        more, and says by now what stands against it."""
        stock: Any = super()
        with suppress(IntegrityError):
            return cast("HttpResponse", stock.changeform_view(request, *args, **kwargs))
        try:
            return cast("HttpResponse", stock.changeform_view(request, *args, **kwargs))
        except IntegrityError:
            messages.error(request, "Nothing was stored: somebody else was quicker. Look at it again.")
            return HttpResponseRedirect(request.path)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return SealedChangeList


def sealing(view: View) -> View:
    """The view, without what was typed in its address: a search that is sent as a form is led to the sealed address."""

    @wraps(view)
    def answering(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST" and sealed.SENT in request.POST:
            address = sealed.address(request.path, request.POST)
            if len(address) > ADDRESS_MOST:
                messages.error(request, TOO_LONG)
                address = request.path
            return HttpResponseRedirect(address)
        return view(request, *args, **kwargs)

    return answering


def sealed_address(request: HttpRequest) -> str | None:
    """Where somebody is led who comes by an address that tells what is looked for; None when it does not."""
    if request.method in ("GET", "HEAD") and sealed.is_open(request.GET):
        return sealed.address(request.path, request.GET)
    return None


def _opened(texts: list[str]) -> list[str]:
    try:
        return [sealed.opened(text) for text in texts]
    except sealed.Unopened:
        return [""]  # which nothing equals
