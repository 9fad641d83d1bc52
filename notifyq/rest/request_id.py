"""Every answer carries X-Request-Id: the caller's own when it sent a sane one, else a new one."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from notifyq.runtime.ids import uuid7
from notifyq.runtime.request_id import request_id

HEADER = "X-Request-Id"
_SANE = re.compile(r"[\x21-\x7e]{1,128}")


class RequestIdMiddleware:
    """Outermost, so that refusals of the other middlewares carry the id too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get(HEADER, "")
        mine = sent if _SANE.fullmatch(sent) else str(uuid7())
        token = request_id.set(mine)
        try:
            response = self._get_response(request)
        finally:
            request_id.reset(token)
        response[HEADER] = mine
        return response
