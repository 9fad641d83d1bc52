"""What the descriptions of the endpoints are made of."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import exceptions

from notifications.api.body import unknown_fields
from notifications.api.json_schema import reference
from notifications.api.view import problem_of
from notifications.errors import IdempotencyConflict
from notifyq.rest.auth import HasScope
from notifyq.rest.errors import to_problem
from notifyq.rest.parser import BODY_MAX_BYTES, loads
from notifyq.rest.problem import (
    MEDIA_TYPE,
    Problem,
    internal_error,
    invalid,
    length_required,
    not_found,
    too_long,
    too_many_requests,
    unavailable,
)
from notifyq.rest.view import unknown_parameter

JSON = "application/json"


def _malformed() -> Problem:
    try:
        loads(b'{"channel": "EMAIL",}')
    except Problem as problem:
        return problem
    raise AssertionError("this is JSON after all")


def _known(error: Exception) -> Problem:
    """What a service's error is answered with."""
    problem = problem_of(error)
    assert problem is not None  # noqa: S101 (named here, so known there)
    return problem


UNKNOWN_FIELD = invalid(unknown_fields(["colour"], ()))
_UNKNOWN_PARAMETER = invalid([unknown_parameter("colour")])
_MALFORMED = _malformed()
# The examples are the problems that the service answers with, not copies of them.
_PROBLEMS: dict[int, tuple[str, Problem]] = {
    400: ("What is wrong stands in `errors`, field by field. Nothing was done.", _UNKNOWN_PARAMETER),
    401: ("No key, or one that is unknown, expired or revoked.", to_problem(exceptions.NotAuthenticated())),
    403: ("The key does not have the scope for that.", to_problem(exceptions.PermissionDenied(HasScope.message))),
    404: ("There is none, or it is another client's.", not_found()),
    406: ("Answers are JSON; the `Accept` header allows none.", to_problem(exceptions.NotAcceptable())),
    409: ("The key belongs to a notification with other details.", _known(IdempotencyConflict())),
    411: ("The body's length is not stated and cannot be told.", length_required()),
    413: ("The body is longer than 1 MiB (a batch: 16 MiB).", too_long(BODY_MAX_BYTES)),
    415: ("The body must be `application/json`.", to_problem(exceptions.UnsupportedMediaType("text/plain"))),
    429: ("The key has used up its requests for now; see `Retry-After`. Nothing was done.", too_many_requests(1)),
    500: ("A fault of the service; its log has it under the `X-Request-Id`.", internal_error()),
    503: ("The database is away. Repeat it with the same key: nothing is done twice.", unavailable()),
}
_ALWAYS = (400, 401, 403, 406, 411, 413, 429, 500, 503)


# drf-spectacular registers its extensions in an untyped hook of the class.
class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a key is sent."""

    target_class = "notifications.api.auth.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "nq_…",
            "description": "A client's key, as `manage.py create_client` or `create_key` printed it.",
        }


def problem(status: int, *examples: Problem | Exception, description: str | None = None) -> OpenApiResponse:
    """An answer that is a problem document.

    Args:
        examples: problems, or errors of this app's services; without any, the usual one of this status.
    """
    usual_description, usual = _PROBLEMS[status]
    shown = [example if isinstance(example, Problem) else _known(example) for example in examples or (usual,)]
    return OpenApiResponse(
        response=reference("Problem"),
        description=description or usual_description,
        examples=[
            OpenApiExample(p.kind, value=p.document(), media_type=MEDIA_TYPE, status_codes=[str(status)]) for p in shown
        ],
    )


def responses(
    answers: dict[int, OpenApiResponse], *problems: int, **special: OpenApiResponse
) -> dict[tuple[int, str], OpenApiResponse]:
    """By status and media type.

    Args:
        problems: the statuses of problems beside those that every address has; 415 where there is a body to read.
        special: `on_409` and so on: what to say instead of the usual.
    """
    found = {(status, JSON): response for status, response in answers.items()}
    found |= {(status, MEDIA_TYPE): problem(status) for status in sorted({*_ALWAYS, *problems})}
    if 415 in problems:
        found[400, MEDIA_TYPE] = problem(400, UNKNOWN_FIELD, _MALFORMED)
    return found | {(int(status.removeprefix("on_")), MEDIA_TYPE): r for status, r in special.items()}


def refused_fields(*errors: dict[str, str]) -> OpenApiResponse:
    """A 400 for a body with these errors, or that is no JSON."""
    return problem(400, invalid(errors), _MALFORMED)


def good(schema: str | tuple[str, ...], description: str, **examples: Any) -> OpenApiResponse:
    """An answer that has one of these schemas.

    Args:
        examples: by title (with `_` for spaces), instead of those of the schemas.
    """
    answer = reference(schema) if isinstance(schema, str) else {"oneOf": [reference(name) for name in schema]}
    return OpenApiResponse(
        response=answer,
        description=description,
        examples=[
            OpenApiExample(name.replace("_", " "), value=value, media_type=JSON, response_only=True)
            for name, value in examples.items()
        ],
    )


def header(name: str, description: str, status: int | None = None, schema: Any = OpenApiTypes.STR) -> OpenApiParameter:
    where: dict[str, Any] = {} if status is None else {"response": [status]}
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description, **where)


def query(name: str, schema: Any, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=description)


REQUEST_ID = header(
    "X-Request-Id", "Taken over into the answer and the logs when it is sane (1 to 128 printable ASCII characters)."
)
ID = OpenApiParameter("notification_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The notification's id.")
