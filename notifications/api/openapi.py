"""What the OpenAPI document says of each endpoint."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from notifications.api.schemas import one_of, reference
from notifications.channel import Channel, Priority
from notifications.status import Status
from notifyq.rest.pagination import LIMIT_DEFAULT, LIMIT_MAX
from notifyq.rest.problem import MEDIA_TYPE, TYPE_PREFIX

_JSON = "application/json"

_PROBLEMS = {
    400: ("invalid-request", "What is wrong stands in `errors`, field by field. Nothing was done."),
    401: ("not-authenticated", "No key, or one that is unknown, expired or revoked."),
    403: ("forbidden", "The key does not have the scope for that."),
    404: ("not-found", "There is none, or it is another client's."),
    406: ("not-acceptable", "Answers are JSON; the `Accept` header allows none."),
    409: ("idempotency-conflict", "The key belongs to a notification with other details. Nothing was stored."),
    411: ("length-required", "The body's length is not stated and cannot be told."),
    413: ("too-large", "The body is longer than 1 MiB."),
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


def _problem(status: int, kind: str | None = None, description: str | None = None) -> OpenApiResponse:
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


def _responses(good: dict[int, OpenApiResponse], *problems: int, **special: OpenApiResponse) -> dict[Any, Any]:
    found: dict[Any, Any] = {(status, _JSON): response for status, response in good.items()}
    found |= {(status, MEDIA_TYPE): _problem(status) for status in sorted({*_ALWAYS, *problems})}
    return found | {(int(status.removeprefix("on_")), MEDIA_TYPE): r for status, r in special.items()}


def _good(schema: str, description: str) -> OpenApiResponse:
    return OpenApiResponse(response=reference(schema), description=description)


def _header(name: str, description: str, status: int | None = None, schema: Any = OpenApiTypes.STR) -> OpenApiParameter:
    where: dict[str, Any] = {} if status is None else {"response": [status]}
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description, **where)


def _query(name: str, schema: Any, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=description)


_REQUEST_ID = _header(
    "X-Request-Id", "Taken over into the answer and the logs when it is sane (1 to 128 printable ASCII characters)."
)
# For the endpoints of other apps.
problem, responses, good, query, header, REQUEST_ID = _problem, _responses, _good, _query, _header, _REQUEST_ID

_ID = OpenApiParameter(
    "notification_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The notification's id."
)

_EXAMPLES = {
    "An e-mail": {
        "channel": "EMAIL",
        "recipient": "ada@example.com",
        "subject": "Your order is on its way",
        "body": "Dear Ada, order 1234 left our warehouse today.",
        "reference": "order-1234",
        "idempotencyKey": "order-1234-shipped",
    },
    "A text message tomorrow": {
        "channel": "SMS",
        "recipient": "+14155550100",
        "body": "Your appointment is at 9:30.",
        "delaySeconds": 86400,
        "ttlSeconds": 3600,
        "idempotencyKey": "appointment-77-reminder",
    },
    "An urgent push message": {
        "channel": "PUSH",
        "recipient": "fcm:cXk3vN0example",
        "subject": "New sign-in",
        "body": "Was this you?",
        "data": {"screen": "security"},
        "priority": "HIGH",
        "collapseKey": "sign-in",
        "idempotencyKey": "sign-in-9001",
    },
}

create_notification = extend_schema(
    operation_id="createNotification",
    tags=["notifications"],
    summary="Send one notification",
    description="Accepts one notification and delivers it once. A 201 means that it is stored for good. Repeat the "
    "request with the same key after an answer that was lost: the answer is then 200 with the notification as it "
    "stands, and nothing is sent twice. Needs the scope `send`.",
    parameters=[
        _REQUEST_ID,
        _header(
            "Idempotency-Key",
            "Instead of `idempotencyKey` in the body: 1 to 255 printable characters, bare or quoted.",
            schema={"type": "string", "minLength": 1, "maxLength": 255},
        ),
        _header("Location", "The new notification's address.", 201),
        _header("Idempotency-Replayed", "`true`", 200),
    ],
    request={_JSON: reference("NotificationRequest")},
    responses=_responses(
        {
            201: _good("Notification", "Stored; it is going to be sent."),
            200: _good("Notification", "A repeat: the notification that this key made, as it stands."),
        },
        409,
        415,
    ),
    examples=[OpenApiExample(name, value=value, request_only=True) for name, value in _EXAMPLES.items()],
)

list_notifications = extend_schema(
    operation_id="listNotifications",
    tags=["notifications"],
    summary="List notifications",
    description="The client's own (with the scope `operate`: everybody's), newest first.",
    parameters=[
        _REQUEST_ID,
        _query("status", {"type": "array", "items": one_of(Status, "")}, "May be given several times."),
        _query("channel", one_of(Channel, ""), "Only this channel."),
        _query("priority", one_of(Priority.__members__, ""), "Only this priority."),
        _query("recipient", OpenApiTypes.STR, "Only this address, in any spelling that is accepted at creation."),
        _query("reference", OpenApiTypes.STR, "Only this label."),
        _query("userId", OpenApiTypes.STR, "Only this label."),
        _query("groupId", OpenApiTypes.UUID, "Only this group."),
        _query("errorCode", OpenApiTypes.STR, "Only those whose last error has this code."),
        _query("createdAfter", OpenApiTypes.DATETIME, "Created at or after this time."),
        _query("createdBefore", OpenApiTypes.DATETIME, "Created before this time."),
        _query(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
            "How many on a page.",
        ),
        _query("cursor", OpenApiTypes.STR, "Where to go on; taken from `next` or `previous`."),
    ],
    responses=_responses({200: _good("NotificationPage", "One page.")}),
)

read_notification = extend_schema(
    operation_id="readNotification",
    tags=["notifications"],
    summary="Read one notification",
    description="With its content and every attempt. Needs the scope `read` or `send`.",
    parameters=[_REQUEST_ID, _ID],
    responses=_responses({200: _good("NotificationInFull", "The notification as it stands.")}, 404),
)

cancel_notification = extend_schema(
    operation_id="cancelNotification",
    tags=["notifications"],
    summary="Cancel one notification",
    description="A 200 means that it is never sent; so does a 200 for a repeat. Needs the scope `send`.",
    parameters=[_REQUEST_ID, _ID],
    request=None,
    responses=_responses(
        {200: _good("Notification", "It is CANCELLED.")},
        404,
        415,
        on_409=_problem(
            409,
            "too-late",
            "It has left PENDING, or (`may-have-been-sent`) an attempt is open that may have been sent.",
        ),
    ),
)

_PAUSE_ID = OpenApiParameter("pause_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The pause's id.")
_PAUSE_EXAMPLES = {
    "A channel": {"scope": "CHANNEL", "value": "SMS", "reason": "The texts name the wrong shop."},
    "Everything": {"scope": "ALL"},
}

list_pauses = extend_schema(
    operation_id="listPauses",
    tags=["operations"],
    summary="List what is paused",
    description="The pauses in force, the oldest first. Needs the scope `operate`.",
    parameters=[_REQUEST_ID],
    responses=_responses({200: _good("PauseList", "All of them.")}),
)

create_pause = extend_schema(
    operation_id="createPause",
    tags=["operations"],
    summary="Pause sending",
    description="Nothing of what is named is sent until the pause is deleted; notifications are still accepted. In "
    "force within one poll of the workers. What is on its way is finished, what waits keeps its place and shows "
    "`waitingReason` PAUSED. Safe to repeat. Needs the scope `operate`.",
    parameters=[_REQUEST_ID],
    request={_JSON: reference("PauseRequest")},
    responses=_responses(
        {201: _good("Pause", "It is in force."), 200: _good("Pause", "It was in force already.")}, 415
    ),
    examples=[OpenApiExample(name, value=value, request_only=True) for name, value in _PAUSE_EXAMPLES.items()],
)

end_pause = extend_schema(
    operation_id="endPause",
    tags=["operations"],
    summary="Resume sending",
    description="Ends the pause. What it kept goes on, in the order as if it had never been paused. Needs the scope "
    "`operate`.",
    parameters=[_REQUEST_ID, _PAUSE_ID],
    request=None,
    responses=_responses({}, 404) | {204: OpenApiResponse(description="It has ended.")},
)
