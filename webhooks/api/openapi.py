"""What the OpenAPI document says of each endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

from notifications.api.describe import REQUEST_ID, good, header, problem, query, responses
from notifications.api.json_schema import one_of, reference
from notifyq.rest.pagination import LIMIT_DEFAULT, LIMIT_MAX
from notifyq.rest.problem import Problem
from webhooks.api.view import problem_of
from webhooks.errors import BeingDelivered, EndpointDisabled, TooManyEndpoints
from webhooks.status import EventStatus

Method = TypeVar("Method", bound=Callable[..., Any])

_JSON = "application/json"
_TAGS = ["webhooks"]
_OWN = " Needs the scope `send` of its own client."
_ANY = " Needs the scope `send` of its own client, or `operate`."
_LOOKS = ("list", "read", "replay", "redeliver")
_ENDPOINT_ID = OpenApiParameter("endpoint_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The endpoint.")
_EVENT_ID = OpenApiParameter("event_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The event.")
_PAGING = [
    query(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
        "How many on a page.",
    ),
    query("cursor", OpenApiTypes.STR, "Where to go on; taken from `next` or `previous`."),
]


def _refused(error: Exception) -> Problem:
    """What a service's error is answered with."""
    found = problem_of(error)
    assert found is not None  # noqa: S101 (named here, so known there)
    return found


_ABSENT = problem(404, description="No such endpoint or event, or another client's.")
_DISABLED = problem(409, _refused(EndpointDisabled()), description="The endpoint is disabled. Enable it first.")


def _operation(
    name: str, summary: str, description: str, *parameters: OpenApiParameter, **more: Any
) -> Callable[[Method], Method]:
    scope = _ANY if name.startswith(_LOOKS) else _OWN
    return extend_schema(
        operation_id=name,
        tags=_TAGS,
        summary=summary,
        description=description + scope,
        parameters=[REQUEST_ID, *parameters],
        **more,
    )


list_endpoints = _operation(
    "listWebhookEndpoints",
    "List webhook endpoints",
    "The client's own (with the scope `operate`: everybody's), newest first.",
    *_PAGING,
    responses=responses({200: good("WebhookEndpointPage", "One page.")}),
)
create_endpoint = _operation(
    "createWebhookEndpoint",
    "Create a webhook endpoint",
    "From now on every outcome of the chosen kinds is POSTed to the URL, signed as Standard Webhooks has it. The "
    "answer holds the secret to verify with; it is shown only here. A client may have 20 endpoints.",
    header("Location", "The new endpoint's address.", 201),
    request={_JSON: reference("WebhookEndpointRequest")},
    responses=responses(
        {201: good("WebhookEndpointWithSecret", "Created.")},
        415,
        on_409=problem(409, _refused(TooManyEndpoints()), description="The client has 20 endpoints."),
    ),
    examples=[
        OpenApiExample(
            "All that went wrong",
            value={
                "url": "https://hooks.example.com/notifications",
                "description": "Order system",
                "events": ["FAILED", "DEAD_LETTERED", "EXPIRED"],
            },
            request_only=True,
        )
    ],
)
read_endpoint = _operation(
    "readWebhookEndpoint",
    "Read a webhook endpoint",
    "Never with its secret.",
    _ENDPOINT_ID,
    responses=responses({200: good("WebhookEndpoint", "The endpoint.")}, on_404=_ABSENT),
)
change_endpoint = _operation(
    "changeWebhookEndpoint",
    "Change a webhook endpoint",
    "Only what is given is changed. Enabling one that the service disabled makes a new beginning; disabling one "
    "cancels what waits for it.",
    _ENDPOINT_ID,
    request={_JSON: reference("WebhookEndpointChange")},
    responses=responses({200: good("WebhookEndpoint", "As it stands now.")}, 415, on_404=_ABSENT),
    examples=[OpenApiExample("Enable it again", value={"enabled": True}, request_only=True)],
)
delete_endpoint = _operation(
    "deleteWebhookEndpoint",
    "Delete a webhook endpoint",
    "Nothing more is sent there. What was sent stays on record.",
    _ENDPOINT_ID,
    responses=responses({}, on_404=_ABSENT) | {204: None},
)
rotate_secret = _operation(
    "rotateWebhookSecret",
    "Give an endpoint a new secret",
    "For 24 hours the present secret signs too, so that the receiver can change over in that time.",
    _ENDPOINT_ID,
    request=None,
    responses=responses({200: good("WebhookEndpointWithSecret", "With the new secret.")}, 415, on_404=_ABSENT),
)
send_test = _operation(
    "testWebhookEndpoint",
    "Send a test event",
    "An event of the type `webhook.test`, delivered like any other.",
    _ENDPOINT_ID,
    request=None,
    responses=responses({202: good("WebhookEvent", "It is going to be sent.")}, 415, on_404=_ABSENT, on_409=_DISABLED),
)
replay = _operation(
    "replayWebhookEvents",
    "Send events of a range of time again",
    "Finished events are queued again, the oldest first, at most 1,000 at a time, each with its id and body as they "
    "were; receivers can tell by the id what they know already.",
    _ENDPOINT_ID,
    request={_JSON: reference("WebhookReplayRequest")},
    responses=responses({200: good("WebhookReplayed", "How many were queued.")}, 415, on_404=_ABSENT, on_409=_DISABLED),
    examples=[
        OpenApiExample(
            "What did not arrive last night",
            value={
                "since": "2026-03-01T22:00:00Z",
                "until": "2026-03-02T06:00:00Z",
                "status": ["FAILED", "CANCELLED"],
            },
            request_only=True,
        )
    ],
)
list_events = _operation(
    "listWebhookEvents",
    "List webhook events",
    "Of the client's own endpoints (with the scope `operate`: of everybody's), newest first.",
    query("notificationId", OpenApiTypes.UUID, "Only those of this notification."),
    query("endpointId", OpenApiTypes.UUID, "Only those for this endpoint."),
    query("status", one_of(EventStatus, ""), "Only those that stand so."),
    *_PAGING,
    responses=responses({200: good("WebhookEventPage", "One page.")}),
)
read_event = _operation(
    "readWebhookEvent",
    "Read a webhook event",
    "With what is sent and every attempt.",
    _EVENT_ID,
    responses=responses({200: good("WebhookEventInFull", "The event as it stands.")}, on_404=_ABSENT),
)
redeliver = _operation(
    "redeliverWebhookEvent",
    "Deliver a webhook event now",
    "A finished one is delivered again, a waiting one before its time.",
    _EVENT_ID,
    request=None,
    responses=responses(
        {202: good("WebhookEvent", "It is going to be sent.")},
        415,
        on_404=_ABSENT,
        on_409=problem(
            409,
            _refused(BeingDelivered()),
            _refused(EndpointDisabled()),
            description="It is on its way, or (`endpoint-disabled`) its endpoint is disabled.",
        ),
    ),
)
