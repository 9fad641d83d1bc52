"""From whatever an API view raises to a problem document; every error of the API leaves through here."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from notifyq.rest.patience import BodyTooSlow
from notifyq.rest.problem import MEDIA_TYPE, Problem, internal_error, not_found, too_slow, unavailable

log = logging.getLogger(__name__)


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler."""
    problem = to_problem(error)
    set_rollback()
    response = Response(problem.document(), status=problem.status, content_type=MEDIA_TYPE, headers=problem.headers)
    if problem.status < 500:
        problem.note()
    # Logged here, once, and without what Django would add: its traceback may hold a row's values.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def to_problem(error: Exception) -> Problem:
    """The problem that the error means; one that nobody knows is a 500 that tells nothing, and is logged."""
    for translate in (_own, _of_rest_framework, _of_database):
        if (problem := translate(error)) is not None:
            return problem
    log_error("request_failed", error)
    return internal_error()


def log_error(event: str, error: Exception) -> None:
    """Type and place of the error, but not its text: a database's may quote the row."""
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{f.filename}:{f.lineno} {f.name}" for f in frames[-12:]]
    log.error(event, extra={"error": type(error).__qualname__, "where": where})


def _own(error: Exception) -> Problem | None:
    return error if isinstance(error, Problem) else None


def _of_database(error: Exception) -> Problem | None:
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    log_error("database_unavailable", error)
    return unavailable()


def _of_rest_framework(error: Exception) -> Problem | None:
    if isinstance(error, Http404 | exceptions.NotFound):
        return not_found()
    if isinstance(error, PermissionDenied):
        return Problem(403, "forbidden", "This is not allowed.")
    if isinstance(error, BodyTooSlow) or isinstance(error.__cause__, BodyTooSlow):
        return too_slow()
    if isinstance(error, UnreadablePostError):
        return Problem(400, "malformed-json", "The body ended before it was complete.")
    if not isinstance(error, exceptions.APIException):
        return None
    kind = _KINDS.get(error.status_code, "invalid-request" if error.status_code < 500 else "internal-error")
    return Problem(error.status_code, kind, str(error.detail), headers=_headers(error))


def _headers(error: exceptions.APIException) -> dict[str, str]:
    """What DRF left on the exception: WWW-Authenticate and Retry-After."""
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    return headers


_KINDS = {
    401: "not-authenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    413: "too-large",
    415: "unsupported-media-type",
    429: "too-many-requests",
}
