"""In which character set a request says it is: text is UTF-8, and Django is told of no other.

Python's `hex`, `rot13` and `idna` count as character sets, too. Django takes any that Python knows, and what then
raises does so wherever address or form are looked at: before the first middleware, and in the page for that error.
"""

from __future__ import annotations

import codecs
import logging
from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_header_parameters

from notifyq.rest import handlers
from notifyq.rest.patience import Application

log = logging.getLogger(__name__)

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
OWN = ("/api/", "/receipts/")
"""What is below these reads bodies by itself, and as UTF-8."""
REFUSED = "notifyq.refused_charset"


def utf_8_only(application: Application) -> Application:
    """The WSGI application, that sees no other character set in a Content-Type; where there was one is marked."""

    def plain(call: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        stated = call.get("CONTENT_TYPE") or ""
        if ";" in stated and (known := _charset(stated)) != "":
            call["CONTENT_TYPE"] = stated.partition(";")[0]
            if known is None:
                call[REFUSED] = True
        return application(call, start_response)

    return plain


class CharsetMiddleware:
    """Refuses a form that says it is in another character set, in words and on one line of the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_form = request.content_type in FORMS and not request.path_info.startswith(OWN)
        if not (is_form and request.META.get(REFUSED)):
            return self._get_response(request)
        log.warning("form_refused", extra={"reason": "charset"})
        response = handlers.bad_request(request, ValueError("a form must be UTF-8"))
        response._has_been_logged = True  # type: ignore[attr-defined]
        return response


def _charset(content_type: str) -> str | None:
    """Empty when Django may see it as it stands, `utf-8` when that is what is meant, None when it is another."""
    try:
        kind, stated = parse_header_parameters(content_type)
        name = codecs.lookup(stated.get("charset", "utf-8")).name
    except (LookupError, ValueError):
        return None
    if name not in ("utf-8", "ascii"):
        return None
    return "utf-8" if kind == FORMS[0] else ""  # of this one Django takes no other spelling
