"""What the console shows while the database is away: a page that needs none."""

from __future__ import annotations

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse

from notifyq.rest.errors import log_error

RETRY_AFTER_SECONDS = 5


class OutageMiddleware:
    """For the pages of the console; the API, the receipts and the health checks have answers of their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A 503 for what the database did not answer; anything else stays what it is."""
        if not isinstance(error, OperationalError | InterfaceError) or not request.path.startswith(_console()):
            return None
        log_error("database_unavailable", error)
        return _page(request)


def _page(request: HttpRequest) -> HttpResponse:
    # Without the request: who is logged in, and the bar, would be asked of the database.
    context = {"address": request.get_full_path(), "is_read": request.method in ("GET", "HEAD")}
    page = HttpResponse(
        render_to_string("console/database_away.html", context),
        status=503,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS), "Cache-Control": "no-store"},
    )
    page._has_been_logged = True  # type: ignore[attr-defined]  # here, and without Django's traceback
    return page


def _console() -> str:
    return reverse("admin:index")
