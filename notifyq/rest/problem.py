"""Errors as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from django.http import HttpResponse, JsonResponse

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:notifyq:problem:"


class Problem(Exception):
    """An error to answer with.

    Args:
        status: the HTTP status code.
        kind: what sort of problem, in lower case with hyphens; becomes the `type`.
        detail: one sentence for a person; never repeats a recipient, a body or a secret.
        errors: what is wrong field by field, each `{field, code, message}` with the caller's name of the field.
        headers: further headers of the answer.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        errors: Iterable[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.kind = kind
        self.detail = detail
        self.errors = [dict(e) for e in errors]
        self.headers = dict(headers or {})
        super().__init__(f"{status} {kind}")

    def document(self) -> dict[str, object]:
        """The answer's body."""
        return {
            "type": TYPE_PREFIX + self.kind,
            "title": _TITLES.get(self.kind) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "errors": self.errors,
        }

    def response(self) -> HttpResponse:
        """For answers from outside the API's views."""
        self.note()
        response = JsonResponse(self.document(), status=self.status, content_type=MEDIA_TYPE, headers=self.headers)
        response._has_been_logged = True  # type: ignore[attr-defined]
        return response

    def note(self) -> None:
        """The log's line about a refusal, instead of Django's, which comes after the request's id is forgotten."""
        log.info("request_refused", extra={"status": self.status, "kind": self.kind})


_TITLES = {
    "invalid-request": "The request is not valid",
    "malformed-json": "The body is not valid JSON",
    "idempotency-conflict": "The idempotency key was used for another request",
    "too-late": "It is too late for that",
    "may-have-been-sent": "It may have been sent",
    "past-expiry": "Its time to live is over by then",
    "unavailable": "The service is not available at the moment",
}


def invalid(errors: Iterable[Mapping[str, str]]) -> Problem:
    """400 with what is wrong field by field."""
    found = list(errors)
    names = ", ".join(dict.fromkeys(e["field"] for e in found))
    return Problem(400, "invalid-request", f"Nothing was done. Please correct: {names}.", errors=found)


def field_error(field: str, code: str, message: str) -> dict[str, str]:
    return {"field": field, "code": code, "message": message}


def not_found() -> Problem:
    return Problem(404, "not-found", "There is nothing at this address, or it is not yours.")


def internal_error() -> Problem:
    return Problem(500, "internal-error", "Something went wrong on our side; the log has it under the request's id.")


def length_required() -> Problem:
    return Problem(411, "length-required", "Please state the body's length in Content-Length.")


def too_long(most_bytes: int) -> Problem:
    return Problem(413, "too-large", f"The body must be at most {most_bytes} bytes.")


def too_slow() -> Problem:
    return Problem(408, "too-slow", "The body did not come in time. Nothing was done.")


def too_many_requests(retry_after_seconds: int) -> Problem:
    return Problem(
        429,
        "too-many-requests",
        "The key has used up its requests for now. Nothing was done; repeat it when the Retry-After is over.",
        headers={"Retry-After": str(retry_after_seconds)},
    )


def unavailable() -> Problem:
    return Problem(
        503,
        "unavailable",
        "The database cannot be reached. Please repeat the request with the same key: nothing is done twice.",
        headers={"Retry-After": "5"},
    )
