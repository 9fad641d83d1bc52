"""What Django shows for errors outside of any view: problem documents below /api/, its own pages elsewhere."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from notifyq.rest import problem
from notifyq.rest.problem import Problem

API_ROOT = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(API_ROOT):
        _read_no_more(request)
        return defaults.bad_request(request, exception)
    return Problem(400, "bad-request", "The request is not one that this service can answer.").response()


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(API_ROOT):
        _read_no_more(request)
        return defaults.permission_denied(request, exception)
    return Problem(403, "forbidden", "This is not allowed.").response()


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(API_ROOT):
        _read_no_more(request)
        return defaults.page_not_found(request, exception)
    return problem.not_found().response()


def server_error(request: HttpRequest) -> HttpResponse:
    if not request.path.startswith(API_ROOT):
        _read_no_more(request)
        return defaults.server_error(request)
    return problem.internal_error().response()


def _read_no_more(request: HttpRequest) -> None:
    """Django's pages look for a token in the form: one that cannot be read would raise once more, from here."""
    if not hasattr(request, "_post"):
        request._mark_post_parse_error()  # type: ignore[attr-defined]
