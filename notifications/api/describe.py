"""What the descriptions of the endpoints are made of."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from notifications.api.json_schema import reference
from notifyq.rest.problem import MEDIA_TYPE, TYPE_PREFIX

JSON = "application/json"

_PROBLEMS = {
    400: ("invalid-request", "What is wrong stands in `errors`, field by field. Nothing was done."),
    401: ("not-authenticated", "No key, or one that is unknown, expired or revoked."),
    403: ("forbidden", "The key does not have the scope for that."),
    404: ("not-found", "There is none, or it is another client's."),
    406: ("not-acceptable", "Answers are JSON; the `Accept` header allows none."),
    409: ("idempotency-conflict", "The key belongs to a notification with other details. Nothing was stored."),
    411: ("length-required", "The body's length is not stated and cannot be told."),
    413: ("too-large", "The body is longer than 1 MiB (a batch: 16 MiB)."),
    415: ("unsupported-media-type", "The body must be `application/json`."),
    429: ("too-many-requests", "The key has used up its requests for now; see `Retry-After`. Nothing was done."),
    500: ("internal-error", "A fault of the service; its log has it under the `X-Request-Id`."),
    503: ("unavailable", "The database is away. Repeat it with the same key: nothing is done twice."),
}
_ALWAYS = (400, 401, 403, 406, 411, 413, 429, 500, 503)


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


def problem(status: int, kind: str | None = None, description: str | None = None) -> OpenApiResponse:
    usual_kind, usual_description = _PROBLEMS[status]
    document = {
        "type": TYPE_PREFIX + (kind or usual_kind),
        "title": (kind or usual_kind).replace("-", " ").capitalize(),
        "status": status,
        "detail": description or usual_description,
        "errors": [],
    }
    return OpenApiResponse(
        response=reference("Problem"),
        description=description or usual_description,
        examples=[OpenApiExample("problem", value=document, media_type=MEDIA_TYPE, status_codes=[str(status)])],
    )


def responses(answers: dict[int, OpenApiResponse], *problems: int, **special: OpenApiResponse) -> dict[Any, Any]:
    found: dict[Any, Any] = {(status, JSON): response for status, response in answers.items()}
    found |= {(status, MEDIA_TYPE): problem(status) for status in sorted({*_ALWAYS, *problems})}
    return found | {(int(status.removeprefix("on_")), MEDIA_TYPE): r for status, r in special.items()}


def good(schema: str | tuple[str, ...], description: str) -> OpenApiResponse:
    """An answer that has one of these schemas."""
    answer = reference(schema) if isinstance(schema, str) else {"oneOf": [reference(name) for name in schema]}
    return OpenApiResponse(response=answer, description=description)


def header(name: str, description: str, status: int | None = None, schema: Any = OpenApiTypes.STR) -> OpenApiParameter:
    where: dict[str, Any] = {} if status is None else {"response": [status]}
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description, **where)


def query(name: str, schema: Any, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=description)


REQUEST_ID = header(
    "X-Request-Id", "Taken over into the answer and the logs when it is sane (1 to 128 printable ASCII characters)."
)
ID = OpenApiParameter("notification_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The notification's id.")
