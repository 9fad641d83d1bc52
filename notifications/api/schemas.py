"""JSON Schemas of what goes in and out, for the OpenAPI document. A test holds them against the code."""

from __future__ import annotations

from typing import Any

from notifications.api import examples
from notifications.api.act_schemas import ACT_COMPONENTS
from notifications.api.breaker_docs import BREAKER_COMPONENTS
from notifications.api.history_schemas import ATTEMPT, ERROR_CODES, LOOK_UP, RECEIPT
from notifications.api.inbox_schemas import INBOX_COMPONENTS
from notifications.api.json_schema import Schema, instant, one_of, or_null, pairs, reference, text, whole, whole_object
from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.device_payload import TAKEN_NAMES
from notifications.pausing import PauseScope
from notifications.receipts import DeliveryStatus
from notifications.request.content import (
    BODY_MAX_BYTES,
    COLLAPSE_KEY_MAX_LENGTH,
    HTML_MAX_BYTES,
    METADATA_MAX_PAIRS,
    SMS_MAX_LENGTH,
)
from notifications.request.group import TARGETS_LEAST, TARGETS_MOST
from notifications.request.times import AHEAD_MAX_SECONDS, TTL_MAX_SECONDS
from notifications.status import Status, WaitingReason
from notifyq.rest.problem import invalid

BATCH_MOST = 1000

_REQUEST_REQUIRED = {
    "channel": one_of(Channel, "What kind of address the recipient is."),
    "recipient": text(
        "EMAIL: a mailbox address. SMS: a phone number in E.164 form. PUSH: `fcm:` and a registration token, "
        "`fcm-fid:` and an installation id, or `apns:` and a device token in hexadecimal. IN_APP: the client's own id "
        "of a user, at most 255 printable characters.",
        1024,
        minLength=1,
    ),
    "body": text(
        f"At most {BODY_MAX_BYTES:,} bytes; for SMS at most {SMS_MAX_LENGTH:,} characters; for PUSH at most 4,096 "
        "bytes of JSON together with `subject`, `data` and what a device needs besides.",
        BODY_MAX_BYTES,
        minLength=1,
    ),
}
_REQUEST_OPTIONAL = {
    "idempotencyKey": text(
        "Instead of the `Idempotency-Key` header; one of the two is required. Printable characters. It is remembered "
        "for as long as the notification is kept.",
        255,
        minLength=1,
    ),
    "subject": text("Required for EMAIL; the title of a PUSH or IN_APP. One line.", 255),
    "htmlBody": text(f"EMAIL only; at most {HTML_MAX_BYTES:,} bytes.", HTML_MAX_BYTES),
    "data": pairs(
        f"PUSH and IN_APP: string pairs for the app; for IN_APP at most 16,384 bytes of JSON. Not to be used for PUSH: "
        f"{TAKEN_NAMES}."
    ),
    "fromName": text("EMAIL only: the name beside the sender's address. One line.", 255),
    "replyTo": text("EMAIL only: a mailbox address.", 320),
    "priority": one_of(Priority.__members__, "`NORMAL` when absent. A HIGH one never waits behind a LOW one."),
    "sendAt": instant("Not before this time, at most 366 days ahead; one in the past means now. With an offset."),
    "delaySeconds": {
        "type": "number",
        "minimum": 0,
        "maximum": AHEAD_MAX_SECONDS,
        "description": "Instead of `sendAt`: so long after it was accepted. Fractions are allowed.",
    },
    "expiresAt": instant("Not sent after this time; must be after the send time."),
    "ttlSeconds": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": TTL_MAX_SECONDS,
        "description": "Instead of `expiresAt`: so long after the send time.",
    },
    "maxAttempts": whole("How often to try; the channel's own number when absent.", minimum=1, maximum=20),
    "userId": text("The client's own label: whom it concerns.", 255),
    "reference": text("The client's own label: what it is about.", 255),
    "metadata": pairs("The client's own labels, 2 KiB of JSON at most.", maxProperties=METADATA_MAX_PAIRS),
    "collapseKey": text(
        "PUSH and IN_APP: a newer one replaces an undelivered (IN_APP: unread) older one. Printable ASCII.",
        COLLAPSE_KEY_MAX_LENGTH,
    ),
    "onUnconfirmed": one_of(
        OnUnconfirmed,
        "When nobody can say whether it was sent. RETRY: send again, perhaps twice. HOLD: let an operator decide.",
    ),
    "dedupeByContent": {
        "type": "boolean",
        "description": "Instead of a key: one is made of `userId`, channel, recipient and content.",
    },
}

REQUEST: Schema = {
    "type": "object",
    "description": "One notification to send. A field that is null counts as absent; an unknown field is refused.",
    "properties": _REQUEST_REQUIRED | {name: or_null(schema) for name, schema in _REQUEST_OPTIONAL.items()},
    "required": list(_REQUEST_REQUIRED),
    "additionalProperties": False,
}

_SHARED_REQUIRED = {"body": _REQUEST_REQUIRED["body"]}
GROUP_REQUEST: Schema = {
    "type": "object",
    "description": "The same to several targets: one notification each, all or none. A field that only some channels "
    "have goes to the targets of those channels; one that no target's channel has is refused.",
    "properties": {
        "targets": {
            "type": "array",
            "minItems": TARGETS_LEAST,
            "maxItems": TARGETS_MOST,
            "description": "Who, and how.",
            "items": {
                "type": "object",
                "description": "One target.",
                "properties": {name: _REQUEST_REQUIRED[name] for name in ("channel", "recipient")},
                "required": ["channel", "recipient"],
                "additionalProperties": False,
            },
        }
    }
    | _SHARED_REQUIRED
    | {name: or_null(schema) for name, schema in _REQUEST_OPTIONAL.items()},
    "required": ["targets", *_SHARED_REQUIRED],
    "additionalProperties": False,
}
BATCH_REQUEST: Schema = {
    "type": "object",
    "description": "Many notifications, each with a key of its own.",
    "properties": {
        "notifications": {
            "type": "array",
            "minItems": 1,
            "maxItems": BATCH_MOST,
            "items": reference("NotificationRequest"),
            "description": "What is wrong with one refuses only that one.",
        }
    },
    "required": ["notifications"],
    "additionalProperties": False,
}

_ID: Schema = {"type": "string", "format": "uuid", "description": "Time-ordered; also the provider's idempotency key."}

_NOT_YET = "Always null for now: nothing fills it yet."

_NOTIFICATION: dict[str, Schema] = {
    "id": _ID,
    "groupId": or_null({"type": "string", "format": "uuid", "description": "What was created together shares it."}),
    "status": one_of(
        Status,
        "SENT, FAILED, DEAD_LETTERED, CANCELLED and EXPIRED are final. RECONCILING: it may have been sent, and its "
        "provider is being asked.",
    ),
    "waitingReason": or_null(
        one_of(
            WaitingReason,
            "Why a PENDING one is not due, or, with PROVIDER_UNAVAILABLE, why it is due and stays where it is: no "
            "provider could take it now. (The answer to a creation does not look at the providers.)",
        )
    ),
    "channel": one_of(Channel, "What kind of address the recipient is."),
    "recipient": text("In canonical form."),
    "subject": or_null(text("As it was given.")),
    "priority": one_of(Priority.__members__, "As it was given, or NORMAL."),
    "sendAt": instant("The time asked for."),
    "dueAt": instant(
        "The earliest time of the next try, or, RECONCILING, of the next question; moves with retries. While no "
        "provider could take it, the time at which one of them is called next, where that is known."
    ),
    "expiresAt": or_null(instant("Not sent after this time.")),
    "attemptCount": whole("Counted attempts so far.", minimum=0),
    "maxAttempts": whole("After so many attempts it is dead-lettered.", minimum=1),
    "provider": or_null(text("The provider that accepted it.")),
    "lastUsedProvider": or_null(text("The provider of the last attempt.")),
    "providerMessageId": or_null(text("The provider's own id for it.")),
    "reconciledAt": or_null(instant("When the provider was last asked what became of it.")),
    "deliveryStatus": or_null(
        one_of(
            DeliveryStatus, "What the provider later reported from the recipient's side: the strongest report counts."
        )
    ),
    "lastError": {
        "description": "What the last failed attempt met with; for a SENT one null, or a word on how.",
        "anyOf": [
            whole_object(
                {"code": text(f"Stable, for programs. {ERROR_CODES}"), "message": or_null(text("For people."))},
                "An error.",
            ),
            {"type": "null"},
        ],
    },
    "operatorRetryCount": whole("How often an operator gave it new attempts.", minimum=0),
    "userId": or_null(text("The client's own label.")),
    "reference": or_null(text("The client's own label.")),
    "metadata": pairs("The client's own labels."),
    "createdAt": instant("When it was accepted."),
    "updatedAt": instant("When it last changed."),
    "finishedAt": or_null(instant("When it became final.")),
}
NOTIFICATION = whole_object(_NOTIFICATION, "A notification as it stands.") | {"example": examples.SENT}

NOTIFICATION_IN_FULL = whole_object(
    _NOTIFICATION
    | {
        "body": text("The text."),
        "htmlBody": or_null(text("The HTML text of an EMAIL.")),
        "data": pairs("The string pairs of a PUSH or IN_APP."),
        "fromName": or_null(text("The sender's name of an EMAIL.")),
        "replyTo": or_null(text("Where answers to an EMAIL go.")),
        "collapseKey": or_null(text("The collapse key of a PUSH or IN_APP.")),
        "onUnconfirmed": one_of(OnUnconfirmed, "What happens when nobody can say whether it was sent."),
        "attempts": {"type": "array", "items": reference("Attempt"), "description": "The history, oldest first."},
        "receipts": {
            "type": "array",
            "items": reference("Receipt"),
            "description": "What providers reported later, in the order in which it came.",
        },
        "lookUps": {
            "type": "array",
            "items": reference("LookUp"),
            "description": "What its providers said about sends in doubt, the latest last.",
        },
        "webhookEvents": {"type": "array", "items": {"type": "object"}, "description": "What its client was told."},
        "operatorActions": {
            "type": "array",
            "items": reference("OperatorAction"),
            "description": "What operators did to it, oldest first.",
        },
    },
    "A notification with its content and history.",
) | {"example": examples.IN_FULL}

GROUP = whole_object(
    {
        "groupId": {"type": "string", "format": "uuid", "description": "Shared by all of them."},
        "notifications": {
            "type": "array",
            "items": reference("Notification"),
            "description": "In the order of the targets.",
        },
    },
    "What a request with several targets made.",
) | {"example": examples.GROUP}
_INDEX = whole("The place in the request, from 0.", minimum=0)
BATCH = whole_object(
    {
        "results": {
            "type": "array",
            "description": "In the order of the request.",
            "items": {
                "oneOf": [
                    whole_object(
                        {
                            "index": _INDEX,
                            "status": {"type": "integer", "enum": [201, 200], "description": "New, or a repeat."},
                            "notification": reference("Notification"),
                        },
                        "Accepted.",
                    ),
                    whole_object(
                        {
                            "index": _INDEX,
                            "status": {"type": "integer", "enum": [400, 409], "description": "As if sent alone."},
                            "problem": reference("Problem"),
                        },
                        "Refused.",
                    ),
                ]
            },
        },
        "created": whole("How many are new.", minimum=0),
        "replayed": whole("How many are repeats.", minimum=0),
        "rejected": whole("How many were refused.", minimum=0),
    },
    "What came of each.",
) | {"example": examples.BATCH}

_URL = or_null({"type": "string", "format": "uri", "description": "Null at the end of the list."})
PAGE = whole_object(
    {"results": {"type": "array", "items": reference("Notification")}, "next": _URL, "previous": _URL},
    "One page of a list; `next` leads to older ones, `previous` to newer ones.",
) | {"example": examples.PAGE}

PAUSE = whole_object(
    {
        "id": {"type": "string", "format": "uuid", "description": "For its end."},
        "scope": one_of(PauseScope, "What is paused."),
        "value": or_null(text("The channel, the provider's name or the client's id; null for ALL.")),
        "reason": or_null(text("As it was given.")),
        "createdAt": instant("When it began."),
        "createdBy": text("Who began it."),
    },
    "A pause in force.",
) | {"example": examples.PAUSE}

PAUSE_LIST = whole_object(
    {"results": {"type": "array", "items": reference("Pause"), "description": "The oldest first."}},
    "What is paused.",
) | {"example": {"results": [examples.PAUSE]}}

PAUSE_REQUEST: Schema = {
    "type": "object",
    "description": "What to pause.",
    "properties": {
        "scope": one_of(PauseScope, "What is paused."),
        "value": or_null(
            text("The channel, the name of a provider in a chain, or the name or id of a client. None for ALL.", 100)
        ),
        "reason": or_null(text("For whoever wonders later; printable characters.", 255)),
    },
    "required": ["scope"],
    "additionalProperties": False,
}

PROBLEM = whole_object(
    {
        "type": text("What sort of problem; stable, for programs."),
        "title": text("The same for people."),
        "status": whole("The HTTP status code."),
        "detail": text("What it means here."),
        "errors": {
            "type": "array",
            "description": "What is wrong field by field; empty when it is not about a field.",
            "items": whole_object(
                {
                    "field": text("The field's name as in the request."),
                    "code": text("Stable, for programs."),
                    "message": text("For people; continues the field's name to a sentence."),
                },
                "One thing wrong with one field.",
            ),
        },
    },
    "A problem as RFC 9457 has it.",
) | {"example": invalid([examples.SUBJECT_MISSING]).document()}

COMPONENTS = {
    "NotificationRequest": REQUEST,
    "GroupRequest": GROUP_REQUEST,
    "BatchRequest": BATCH_REQUEST,
    "NotificationGroup": GROUP,
    "BatchResult": BATCH,
    "Notification": NOTIFICATION,
    "NotificationInFull": NOTIFICATION_IN_FULL,
    "NotificationPage": PAGE,
    "Attempt": ATTEMPT,
    "Receipt": RECEIPT,
    "LookUp": LOOK_UP,
    "Pause": PAUSE,
    "PauseList": PAUSE_LIST,
    "PauseRequest": PAUSE_REQUEST,
    "Problem": PROBLEM,
    **ACT_COMPONENTS,
    **INBOX_COMPONENTS,
    **BREAKER_COMPONENTS,
}


LIMIT_HEADERS = {
    name: {"schema": {"type": "integer", "minimum": 0}, "description": description}
    for name, description in {
        "RateLimit-Limit": "Requests that the key may make in a minute; only where there is a limit.",
        "RateLimit-Remaining": "Requests that it may still make now.",
        "RateLimit-Reset": "Seconds until all of them are available again, if none is made.",
        "Retry-After": "Seconds after which one more is allowed.",
    }.items()
}


def add_components(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """drf-spectacular's post-processing hook."""
    result.setdefault("components", {}).setdefault("schemas", {}).update(COMPONENTS)
    for operation in (o for by_method in result["paths"].values() for o in by_method.values()):
        for status, response in operation["responses"].items():
            shown = LIMIT_HEADERS if status == "429" else {n: h for n, h in LIMIT_HEADERS.items() if n != "Retry-After"}
            response.setdefault("headers", {}).update(shown)
    return result
