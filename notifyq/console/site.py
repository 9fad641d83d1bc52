"""The site itself: Django's, with a bar of links, the apps' pages, and a front page."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse

from notifyq.console import lookups, pages
from notifyq.console.pages import Page, View
from notifyq.console.search import SealsSearches, sealed_address, sealing

NAME_MOST = 150
"""Characters of a login's name, as Django stores it."""


class LoginForm(AdminAuthenticationForm):
    """A name that is longer than any can be is nobody's, and is not noted as somebody's try."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if len(name) > NAME_MOST:
            raise self.get_invalid_login_error()
        return name


class ConsoleSite(AdminSite):
    """`django.contrib.admin.site` is one of these."""

    login_form = LoginForm

    site_header = "Notify Queue"
    site_title = "Notify Queue"
    index_title = "Overview"
    site_url = None  # there is no other site to view
    enable_nav_sidebar = False  # the lists need the room

    index_template = "console/overview.html"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Django's own lists get the same search box as ours."""
        base = admin_class or ModelAdmin
        if not issubclass(base, SealsSearches):
            base = type(base.__name__, (SealsSearches, base), {"__module__": base.__module__})
        super().register(model_or_iterable, base, **options)

    def get_urls(self) -> list[URLResolver | URLPattern]:
        own = [path(page.path, self.admin_view(_guarded(page)), name=page.name) for page in pages.pages]
        # No row of ours has a page elsewhere, and Django's view that would lead there fails on an id of the wrong form.
        stock = [found for found in super().get_urls() if getattr(found, "name", None) != "view_on_site"]
        return [*own, *stock]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        guarded: View = super().admin_view(sealing(view), cacheable)

        @wraps(view)
        def answering(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            elsewhere = sealed_address(request)
            if elsewhere is not None:  # also before the login, whose address would hold it
                return HttpResponseRedirect(elsewhere)
            try:
                return guarded(request, *args, **kwargs)
            except PermissionDenied:
                if not self.has_permission(request):
                    raise
                return TemplateResponse(request, "403.html", self.each_context(request), status=403)
            except lookups.REFUSALS as refused:
                return lookups.led_back(request, refused)
            except DataError:
                if any("\x00" in value for _, values in request.GET.lists() for value in values):
                    raise Http404("PostgreSQL holds no such text, and cannot be asked for it") from None
                raise

        return answering

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context: dict[str, Any] = super().each_context(request)
        return context | {"console_bar": _bar(request)}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from notifyq.overview import view  # it reads the apps, which are there by now

        return super().index(request, view.context(request) | (extra_context or {}))


def _guarded(page: Page) -> View:
    """Asks for the permission first; an address that only answers GET cannot be made to act by a form."""

    @wraps(page.view)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(page.permission):
            raise PermissionDenied
        if request.method not in page.methods:
            return HttpResponseNotAllowed(page.methods)
        return page.view(request, *args, **kwargs)

    return view


def _bar(request: HttpRequest) -> list[dict[str, Any]]:
    home, found = reverse("admin:index"), []
    for link in pages.links_for(request):
        address = reverse(link.url_name)
        places = (*(f"{home}{place}/" for place in link.holds), *([address] if address != home else []))
        inside = request.path == address or request.path.startswith(places)
        found.append({"label": link.label, "address": address, "is_current": inside})
    return found
