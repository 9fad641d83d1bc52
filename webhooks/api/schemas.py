"""JSON Schemas of what goes in and out, for the OpenAPI document. A test holds them against the code."""

from __future__ import annotations

from typing import Any

from notifications.api import examples
from notifications.api.json_schema import (
    Schema,
    instant,
    one_of,
    or_null,
    reference,
    text,
    whole,
    whole_object,
)
from notifications.status import FINAL as FINAL_OUTCOMES
from webhooks.egress import URL_MAX_LENGTH
from webhooks.request import DESCRIPTION_MAX_LENGTH
from webhooks.status import FINAL, DisabledReason, EventStatus

_UUID: Schema = {"type": "string", "format": "uuid"}
_EVENTS: Schema = {
    "type": "array",
    "items": one_of(sorted(FINAL_OUTCOMES), "A final status of a notification."),
    "description": "Which outcomes to tell of: SENT, FAILED and DEAD_LETTERED when absent.",
    "minItems": 1,
}
_FIELDS: dict[str, Schema] = {
    "url": text(
        "Where to POST. `https://` to a public address; where the service allows private addresses, also `http://`.",
        URL_MAX_LENGTH,
        minLength=1,
    ),
    "description": text("For people. One line.", DESCRIPTION_MAX_LENGTH),
    "events": _EVENTS,
    "enabled": {"type": "boolean", "description": "Whether events are sent there; true when absent."},
}
_OPTIONAL = {name: or_null(schema) for name, schema in _FIELDS.items()}

CREATE: Schema = {
    "type": "object",
    "description": "A new endpoint. A field that is null counts as absent; an unknown field is refused.",
    "properties": _OPTIONAL | {"url": _FIELDS["url"]},
    "required": ["url"],
    "additionalProperties": False,
}
CHANGE: Schema = {
    "type": "object",
    "description": "What to change; the rest stays.",
    "properties": _OPTIONAL,
    "additionalProperties": False,
}
REPLAY: Schema = {
    "type": "object",
    "description": "Which events to send again, by the time they were created.",
    "properties": {
        "since": instant("From this time on."),
        "until": or_null(instant("Before this time; now when absent.")),
        "status": or_null(
            {
                "type": "array",
                "items": one_of(sorted(FINAL), "A final status of an event."),
                "description": "Only those that ended so; all finished ones when absent.",
                "minItems": 1,
            }
        ),
    },
    "required": ["since"],
    "additionalProperties": False,
}

_ENDPOINT: dict[str, Schema] = {
    "id": _UUID,
    "url": text("Where events are sent."),
    "description": text("For people."),
    "events": _EVENTS,
    "enabled": {"type": "boolean", "description": "Whether events are sent there."},
    "disabledAt": or_null(instant("Since when not.")),
    "disabledReason": or_null(
        one_of(DisabledReason, "GONE: it answered 410. FAILING: nothing but failure for five days. Null: its owner.")
    ),
    "failingSince": or_null(instant("The first failure after the last success.")),
    "previousSecretExpiresAt": or_null(instant("Until then the secret before the last rotation signs too.")),
    "createdAt": instant("When it was created."),
    "updatedAt": instant("When it was last changed."),
}
_SECRET = {"secret": text("`whsec_` and base64. Shown only in this answer: keep it.")}

_EVENT: dict[str, Schema] = {
    "eventId": _UUID | {"description": "The `webhook-id` of every attempt."},
    "endpointId": _UUID,
    "notificationId": or_null(_UUID | {"description": "Null for a test event."}),
    "type": text("`notification.sent` and so on, or `webhook.test`."),
    "sequence": whole("Which outcome of the notification it tells.", minimum=0),
    "status": one_of(EventStatus, "DELIVERED, FAILED (attempts used up) and CANCELLED (endpoint disabled) are final."),
    "cycle": whole("Grows with each replay.", minimum=1),
    "attemptCount": whole("Attempts so far in this cycle.", minimum=0),
    "dueAt": instant("The earliest time of the next attempt."),
    "lastErrorCode": or_null(text("What the last attempt met with.")),
    "lastResponseStatus": or_null(whole("The HTTP status of the last answer.")),
    "createdAt": instant("When it was created."),
    "finishedAt": or_null(instant("When it became final.")),
}
_ATTEMPT: dict[str, Schema] = {
    "cycle": whole("Grows with each replay.", minimum=1),
    "number": whole("Grows with each attempt of a cycle.", minimum=1),
    "responseStatus": or_null(whole("The HTTP status; null when no answer came.")),
    "responseExcerpt": or_null(text("The first KiB of the answer's body.")),
    "errorCode": or_null(text("Null after a 2xx.")),
    "startedAt": or_null(instant("Null when the dispatcher died.")),
    "finishedAt": instant("When the answer was there, or given up."),
    "durationMs": or_null(whole("Milliseconds.", minimum=0)),
}
_ENDPOINT_EXAMPLE = {
    "id": "01a22cb0-7c31-7d20-a1b4-90f3c5de7a01",
    "url": "https://hooks.example.com/notifications",
    "description": "Order system",
    "events": ["DEAD_LETTERED", "EXPIRED", "FAILED"],
    "enabled": True,
    "disabledAt": None,
    "disabledReason": None,
    "failingSince": None,
    "previousSecretExpiresAt": None,
    "createdAt": "2030-01-30T08:00:00.000000Z",
    "updatedAt": "2030-01-30T08:00:00.000000Z",
}
_EVENT_EXAMPLE = {
    "eventId": "01a22cbf-5ea3-7c44-9e02-6b1f2d83c90a",
    "endpointId": _ENDPOINT_EXAMPLE["id"],
    "notificationId": examples.SENT["id"],
    "type": "notification.sent",
    "sequence": 1,
    "status": "DELIVERED",
    "cycle": 1,
    "attemptCount": 1,
    "dueAt": "2030-01-31T08:00:00.412650Z",
    "lastErrorCode": None,
    "lastResponseStatus": 204,
    "createdAt": "2030-01-31T08:00:00.412650Z",
    "finishedAt": "2030-01-31T08:00:00.600210Z",
}
_URL = or_null({"type": "string", "format": "uri", "description": "Null at the end of the list."})


def _page(item: str) -> Schema:
    results = {"type": "array", "items": reference(item), "description": "The newest first."}
    return whole_object({"results": results, "next": _URL, "previous": _URL}, "One page of a list.")


COMPONENTS: dict[str, Schema] = {
    "WebhookEndpointRequest": CREATE,
    "WebhookEndpointChange": CHANGE,
    "WebhookReplayRequest": REPLAY,
    "WebhookEndpoint": whole_object(_ENDPOINT, "A webhook endpoint.") | {"example": _ENDPOINT_EXAMPLE},
    "WebhookEndpointWithSecret": whole_object(_ENDPOINT | _SECRET, "A webhook endpoint with its secret."),
    "WebhookEndpointPage": _page("WebhookEndpoint"),
    "WebhookEvent": whole_object(_EVENT, "An event for one endpoint.") | {"example": _EVENT_EXAMPLE},
    "WebhookEventInFull": whole_object(
        _EVENT
        | {
            "payload": {"type": "object", "description": "What is sent, the same on every attempt."},
            "attempts": {"type": "array", "items": reference("WebhookAttempt"), "description": "Oldest first."},
        },
        "An event with its payload and history.",
    ),
    "WebhookEventPage": _page("WebhookEvent"),
    "WebhookAttempt": whole_object(_ATTEMPT, "One call to an endpoint."),
    "WebhookReplayed": whole_object(
        {
            "replayed": whole("How many events were queued again.", minimum=0),
            "nextSince": or_null(instant("Repeat the call with this `since` for the rest; null when that was all.")),
        },
        "What a replay did.",
    ),
}


def add_components(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """drf-spectacular's post-processing hook; it runs after that of the notifications."""
    schemas = result["components"]["schemas"]
    schemas.update(COMPONENTS)
    full = schemas["NotificationInFull"]
    told = full["properties"]["webhookEvents"] | {"items": reference("WebhookEvent")}
    schemas["NotificationInFull"] = full | {
        "properties": full["properties"] | {"webhookEvents": told},
        "example": full["example"] | {"webhookEvents": [_EVENT_EXAMPLE]},
    }
    return result
