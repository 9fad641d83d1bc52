"""What the OpenAPI document says of each endpoint."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from notifications.api import examples
from notifications.api.describe import (
    ID,
    JSON,
    REQUEST_ID,
    good,
    header,
    problem,
    query,
    refused_fields,
    responses,
)
from notifications.api.history_schemas import ERROR_CODES
from notifications.api.json_schema import one_of, reference
from notifications.channel import Channel, Priority
from notifications.errors import PastExpiry, TooLate
from notifications.receipts import DeliveryStatus
from notifications.services.reschedule import NOT_BEFORE_EXPIRY
from notifications.services.retry import EXPIRY_NEEDED
from notifications.status import Status
from notifyq.rest.pagination import LIMIT_DEFAULT, LIMIT_MAX

_TOO_LATE = TooLate("SENT")
_OPEN = TooLate("PENDING", may_have_been_sent=True)

create_notification = extend_schema(
    operation_id="createNotification",
    tags=["notifications"],
    summary="Send one notification",
    description="Accepts one notification (or, with `targets`, one for each) and delivers it once. A 201 means that "
    "it is stored for good. Repeat the request with the same key after an answer that was lost: the answer is then 200 "
    "with the notification as it stands, and nothing is sent twice. Needs the scope `send`.",
    parameters=[
        REQUEST_ID,
        header(
            "Idempotency-Key",
            "Instead of `idempotencyKey` in the body: 1 to 255 printable characters, bare or quoted.",
            schema={"type": "string", "minLength": 1, "maxLength": 255},
        ),
        header("Location", "The new notification's address.", 201),
        header("Idempotency-Replayed", "`true`", 200),
    ],
    request={JSON: {"oneOf": [reference("NotificationRequest"), reference("GroupRequest")]}},
    responses=responses(
        {
            201: good(
                ("Notification", "NotificationGroup"),
                "Stored; it is going to be sent.",
                One=examples.ACCEPTED,
                Several_targets=examples.GROUP,
            ),
            200: good(
                ("Notification", "NotificationGroup"),
                "A repeat: what this key made, as it stands.",
                Sent_by_now=examples.SENT,
            ),
        },
        409,
        415,
        on_400=refused_fields(examples.SUBJECT_MISSING),
    ),
    examples=[OpenApiExample(name, value=value, request_only=True) for name, value in examples.REQUESTS.items()],
)

create_batch = extend_schema(
    operation_id="createBatch",
    tags=["notifications"],
    summary="Send many notifications",
    description="Accepts up to 1,000 notifications in one transaction, 16 MiB of JSON at most. Each has its own key, "
    "and what is wrong with one refuses only that one. A batch that is sent twice creates nothing new. Needs the scope "
    "`send`.",
    parameters=[REQUEST_ID],
    request={JSON: reference("BatchRequest")},
    responses=responses({200: good("BatchResult", "What came of each.")}, 415),
    examples=[
        OpenApiExample(
            "Two",
            value={"notifications": [examples.REQUESTS["An e-mail"], examples.REQUESTS["A text message tomorrow"]]},
            request_only=True,
        )
    ],
)

list_notifications = extend_schema(
    operation_id="listNotifications",
    tags=["notifications"],
    summary="List notifications",
    description="The client's own (with the scope `operate`: everybody's), newest first.",
    parameters=[
        REQUEST_ID,
        query("status", {"type": "array", "items": one_of(Status, "")}, "May be given several times."),
        query("channel", one_of(Channel, ""), "Only this channel."),
        query("priority", one_of(Priority.__members__, ""), "Only this priority."),
        query("recipient", OpenApiTypes.STR, "Only this address, in any spelling that is accepted at creation."),
        query("reference", OpenApiTypes.STR, "Only this label."),
        query("userId", OpenApiTypes.STR, "Only this label."),
        query("groupId", OpenApiTypes.UUID, "Only this group."),
        query("errorCode", OpenApiTypes.STR, f"Only those whose last error has this code. {ERROR_CODES}"),
        query(
            "deliveryStatus",
            one_of(DeliveryStatus, ""),
            "Only those of which this was reported, see `deliveryStatus`. The ones that tell of trouble (DELAYED, "
            "REJECTED, UNDELIVERED, BOUNCED, COMPLAINED) are found by an index.",
        ),
        query("createdAfter", OpenApiTypes.DATETIME, "Created at or after this time."),
        query("createdBefore", OpenApiTypes.DATETIME, "Created before this time."),
        query(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
            "How many on a page.",
        ),
        query("cursor", OpenApiTypes.STR, "Where to go on; taken from `next` or `previous`."),
    ],
    responses=responses({200: good("NotificationPage", "One page.")}),
)

read_notification = extend_schema(
    operation_id="readNotification",
    tags=["notifications"],
    summary="Read one notification",
    description="With its content and every attempt. Needs the scope `read` or `send`.",
    parameters=[REQUEST_ID, ID],
    responses=responses({200: good("NotificationInFull", "The notification as it stands.")}, 404),
)

cancel_notification = extend_schema(
    operation_id="cancelNotification",
    tags=["notifications"],
    summary="Cancel one notification",
    description="A 200 means that it is never sent; so does a 200 for a repeat. Needs the scope `send`.",
    parameters=[REQUEST_ID, ID],
    request=None,
    responses=responses(
        {200: good("Notification", "It is CANCELLED.", Done=examples.CANCELLED)},
        404,
        415,
        on_409=problem(
            409,
            _TOO_LATE,
            _OPEN,
            description="It has left PENDING, or (`may-have-been-sent`) an attempt is open that may have been sent.",
        ),
    ),
)

cancel_together = extend_schema(
    operation_id="cancelTogether",
    tags=["notifications"],
    summary="Cancel what belongs together",
    description="Cancels every PENDING notification of a group, or with a reference; the client's own, with the scope "
    "`operate` anybody's. Those counted as `cancelled` are never sent. Needs the scope `send`.",
    parameters=[REQUEST_ID],
    request={JSON: reference("CancelTogetherRequest")},
    responses=responses({200: good("CancelledTogether", "Done, as far as it was not too late.")}, 415),
)

reschedule_notification = extend_schema(
    operation_id="rescheduleNotification",
    tags=["notifications"],
    summary="Give one notification another time",
    description="A 200 means that a PENDING one is not sent before the new time; only the IN_APP copy of a push comes "
    "with that push at the latest. Needs the scope `send`.",
    parameters=[REQUEST_ID, ID],
    request={JSON: reference("RescheduleRequest")},
    responses=responses(
        {200: good("Notification", "It waits for the new time.", Done=examples.RESCHEDULED)},
        404,
        415,
        on_409=problem(
            409,
            _TOO_LATE,
            _OPEN,
            PastExpiry("send_at", NOT_BEFORE_EXPIRY),
            description="It has left PENDING, or an attempt is open that may have been sent (`may-have-been-sent`), "
            "or the new time is not before its expiry (`past-expiry`).",
        ),
    ),
)

retry_notification = extend_schema(
    operation_id="retryNotification",
    tags=["operators"],
    summary="Retry one notification",
    description="Takes a FAILED or DEAD_LETTERED one back to PENDING, due now, with all its attempts again. Of several "
    "calls at once one has an effect. Needs the scope `operate`.",
    parameters=[REQUEST_ID, ID],
    request={JSON: reference("RetryRequest")},
    responses=responses(
        {200: good("Notification", "It waits for a worker.", Done=examples.RETRIED)},
        404,
        415,
        on_409=problem(
            409,
            _TOO_LATE,
            PastExpiry("expires_at", EXPIRY_NEEDED),
            description="It is in another state, or its time to live is over (`past-expiry`): give `expiresAt`.",
        ),
    ),
)

retry_many = extend_schema(
    operation_id="retryMany",
    tags=["operators"],
    summary="Retry many notifications",
    description="Takes back up to `limit` of those that match, the longest finished first. Repeat the call with the "
    "`cutoff` of the first answer as `finishedBefore` until `retried` is 0. Needs the scope `operate`.",
    parameters=[REQUEST_ID],
    request={JSON: reference("RetryManyRequest")},
    responses=responses({200: good("RetriedMany", "What came of it.")}, 415),
)

resolve_notification = extend_schema(
    operation_id="resolveNotification",
    tags=["operators"],
    summary="Decide what became of one notification",
    description="For a dead letter with the reason UNCONFIRMED: SENT when it was delivered, FAILED when it was not. "
    "Needs the scope `operate`.",
    parameters=[REQUEST_ID, ID],
    request={JSON: reference("ResolveRequest")},
    responses=responses(
        {200: good("Notification", "It has the outcome.", Done=examples.RESOLVED)},
        404,
        415,
        on_409=problem(409, _TOO_LATE, description="It is not held as UNCONFIRMED."),
    ),
)

stats = extend_schema(
    operation_id="readStats",
    tags=["notifications"],
    summary="Count notifications",
    description="With the scope `operate` the whole queue, else the client's own newest 10,000.",
    parameters=[REQUEST_ID],
    responses=responses({200: good("Stats", "As they are now.")}),
)

_PAUSE_ID = OpenApiParameter("pause_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The pause's id.")
_PAUSE_EXAMPLES = {
    "A channel": {"scope": "CHANNEL", "value": "SMS", "reason": "The texts name the wrong shop."},
    "Everything": {"scope": "ALL"},
}

list_pauses = extend_schema(
    operation_id="listPauses",
    tags=["operators"],
    summary="List what is paused",
    description="The pauses in force, the oldest first. Needs the scope `operate`.",
    parameters=[REQUEST_ID],
    responses=responses({200: good("PauseList", "All of them.")}),
)

create_pause = extend_schema(
    operation_id="createPause",
    tags=["operators"],
    summary="Pause sending",
    description="Nothing of what is named is sent until the pause is deleted; notifications are still accepted. In "
    "force within one poll of the workers. What is on its way is finished, what waits keeps its place and shows "
    "`waitingReason` PAUSED. Safe to repeat. Needs the scope `operate`.",
    parameters=[REQUEST_ID],
    request={JSON: reference("PauseRequest")},
    responses=responses({201: good("Pause", "It is in force."), 200: good("Pause", "It was in force already.")}, 415),
    examples=[OpenApiExample(name, value=value, request_only=True) for name, value in _PAUSE_EXAMPLES.items()],
)

end_pause = extend_schema(
    operation_id="endPause",
    tags=["operators"],
    summary="Resume sending",
    description="Ends the pause. What it kept goes on, in the order as if it had never been paused. Needs the scope "
    "`operate`.",
    parameters=[REQUEST_ID, _PAUSE_ID],
    request=None,
    responses=responses({}, 404) | {204: OpenApiResponse(description="It has ended.")},
)
