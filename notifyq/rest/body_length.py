"""How long a body is. `Transfer-Encoding: chunked` states no length, and Django alone takes such a body for empty."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve

from notifyq.rest.patience import DRAIN_SECONDS, BodyTooSlow, PatientInput
from notifyq.rest.problem import Problem, length_required, too_long, too_slow

_STEP = 1 << 16
_DRAIN_BYTES = 16 << 20


class Readable(Protocol):
    """As much of a file as is needed here."""

    def read(self, size: int, /) -> bytes: ...


class BodyLengthMiddleware:
    """Reads a chunked body, within bounds, where the server marks its end; elsewhere the length has to be stated."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        stated = request.META.get("CONTENT_LENGTH")
        if stated and not (stated.isascii() and stated.isdigit()):
            return Problem(400, "bad-request", "Content-Length must be a number.").response()
        if stated or not request.headers.get("Transfer-Encoding"):
            return self._get_response(request)
        if not request.META.get("wsgi.input_terminated"):
            return length_required().response()
        if request.path_info.startswith("/api/") and not request.headers.get("Authorization"):
            # Refused for that in a moment: whoever has no key keeps no thread waiting.
            request.META["CONTENT_LENGTH"], request._stream = "0", io.BytesIO()
            return self._get_response(request)
        most = _most_bytes(request)
        try:
            body = _read(request.META["wsgi.input"], most)
        except BodyTooSlow:
            return too_slow().response()
        except Exception:  # noqa: BLE001 (each server has its own kinds for a chunk that is none)
            return Problem(400, "bad-request", "The chunks of the body cannot be read.").response()
        if body is None:
            return too_long(most).response()
        request.META["CONTENT_LENGTH"] = str(len(body))
        request._stream = io.BytesIO(body)
        return self._get_response(request)


def _most_bytes(request: HttpRequest) -> int:
    """What the view at this address takes, by its `body_max_bytes`; the usual bound for any other."""
    try:
        view = resolve(request.path_info).func
    except Resolver404:
        return int(settings.REQUEST_MAX_BYTES)
    return int(getattr(getattr(view, "cls", None), "body_max_bytes", settings.REQUEST_MAX_BYTES))


def hurry(request: HttpRequest) -> None:
    """Wait no longer than a moment for what is still to come of a body that is refused."""
    body = request.META.get("wsgi.input")
    if isinstance(body, PatientInput):
        body.hurry(DRAIN_SECONDS)


def drain(stream: Readable) -> None:
    """Take in the rest, within bounds: a caller who is still writing when the connection closes never reads why."""
    left = _DRAIN_BYTES
    with suppress(OSError):
        while left > 0 and (chunk := stream.read(_STEP)):
            left -= len(chunk)


def _read(stream: Readable, most: int) -> bytes | None:
    """None when it is longer than `most`."""
    parts, size = [], 0
    while size <= most and (chunk := stream.read(_STEP)):
        parts.append(chunk)
        size += len(chunk)
    if size > most:
        drain(stream)
        return None
    return b"".join(parts)
