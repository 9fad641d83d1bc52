"""JSON Schemas of what is done to notifications that are there: by operators, and by their own clients."""

from __future__ import annotations

from typing import Any

from notifications.api.json_schema import Schema, instant, one_of, or_null, reference, text, whole, whole_object
from notifications.channel import Channel
from notifications.models import Action, ActorKind
from notifications.providers.instance_names import NAME_LENGTH_MOST
from notifications.request.times import AHEAD_MAX_SECONDS
from notifications.services.acts import REASON_MAX_LENGTH
from notifications.services.resolve import OUTCOMES
from notifications.services.retry import LIMIT_MOST
from notifications.status import Status

_REASON = text("Why, for the record; shown in `operatorActions`.", REASON_MAX_LENGTH)
_RETRYABLE = (Status.DEAD_LETTERED, Status.FAILED)


def _request(properties: dict[str, Schema], description: str, required: tuple[str, ...] = (), **more: Any) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


OPERATOR_ACTION = whole_object(
    {
        "action": one_of(Action, "What was done."),
        "actor": whole_object(
            {
                "kind": one_of(ActorKind, "Known by a key, or by a login to the console."),
                "name": text("The beginning of the key, or the user's name."),
            },
            "Who did it.",
        ),
        "reason": or_null(text("Why, in the operator's words.")),
        "statusBefore": one_of(Status, "The state it was in."),
        "details": {"type": "object", "description": "What else was asked for."},
        "createdAt": instant("When."),
    },
    "One act of an operator on one notification; the record is never changed.",
) | {
    "example": {
        "action": "RETRY",
        "actor": {"kind": "API_KEY", "name": "nq_k2m4p6r8t9"},
        "reason": "the relay is back",
        "statusBefore": "DEAD_LETTERED",
        "details": {},
        "createdAt": "2030-01-31T09:00:00.000000Z",
    }
}

RETRY_REQUEST = _request(
    {
        "reason": or_null(_REASON),
        "expiresAt": or_null(instant("A new time of expiry; needed when its own has passed.")),
    },
    "Both may be absent.",
    example={"reason": "the relay is back"},
)
RETRY_MANY_REQUEST = _request(
    {
        "status": or_null(one_of(_RETRYABLE, "`DEAD_LETTERED` when absent.")),
        "channel": or_null(one_of(Channel, "Only this channel.")),
        "provider": or_null(text("Only those whose last attempt went to this provider.", NAME_LENGTH_MOST)),
        "errorCode": or_null(
            text("Only those with this last error. Those that may have been sent are left out without it.", 255)
        ),
        "finishedAfter": or_null(instant("Finished at or after this time.")),
        "finishedBefore": or_null(instant("Finished before this time: the `cutoff` of the answer before.")),
        "limit": or_null(whole("At most so many; 1,000 when absent.", minimum=1, maximum=LIMIT_MOST)),
        "dryRun": or_null({"type": "boolean", "description": "Change nothing; tell what would be done."}),
        "reason": or_null(_REASON),
    },
    "Which to retry: everything that is given has to hold.",
    example={"errorCode": "connect_refused", "limit": 500, "reason": "the relay is back"},
)
RETRIED_MANY = whole_object(
    {
        "retried": whole("Taken back by this call; in a dry run, that would be.", minimum=0),
        "skippedExpired": whole(
            "Past their time to live: each needs a retry of its own, with `expiresAt`. Counted up to 10,000.", minimum=0
        ),
        "remaining": whole("Not taken back yet. Counted up to 10,000.", minimum=0),
        "cutoff": instant("The `finishedBefore` for the next call of a series."),
    },
    "What came of it.",
) | {"example": {"retried": 500, "skippedExpired": 3, "remaining": 1280, "cutoff": "2030-01-31T09:00:00.000000Z"}}

RESOLVE_REQUEST = _request(
    {
        "outcome": one_of(OUTCOMES, "SENT: it was delivered. FAILED: it was not."),
        "reason": text("How that is known; for the record.", REASON_MAX_LENGTH, minLength=1),
    },
    "What became of it.",
    ("outcome", "reason"),
    example={"outcome": "SENT", "reason": "it stands in the provider's log"},
)
_SEND_AT = instant("Not before this time, at most 366 days ahead; one in the past means now. With an offset.")
_DELAY: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": AHEAD_MAX_SECONDS,
    "description": "So long from now. Fractions are allowed.",
}
RESCHEDULE_REQUEST: Schema = {
    "description": "The new time, in one of two ways.",
    "oneOf": [
        _request({"sendAt": _SEND_AT}, "A time.", ("sendAt",)),
        _request({"delaySeconds": _DELAY}, "A delay.", ("delaySeconds",)),
    ],
    "example": {"sendAt": "2030-02-01T08:00:00Z"},
}
CANCEL_TOGETHER_REQUEST: Schema = {
    "description": "Which belong together, in one of two ways.",
    "oneOf": [
        _request(
            {"groupId": {"type": "string", "format": "uuid", "description": "The group's id."}},
            "A group.",
            ("groupId",),
        ),
        _request({"reference": text("The client's own label.", 255, minLength=1)}, "A label.", ("reference",)),
    ],
    "example": {"reference": "order-1234"},
}
CANCELLED_TOGETHER = whole_object(
    {
        "cancelled": whole("Cancelled by this call: they are never sent.", minimum=0),
        "tooLate": whole("Neither cancelled now nor before: they have left PENDING, or may have been sent.", minimum=0),
    },
    "What came of it.",
) | {"example": {"cancelled": 2, "tooLate": 1}}

STATS = whole_object(
    {
        "counts": whole_object(
            {
                status.value: whole_object(
                    {channel.value: whole("How many.", minimum=0) for channel in Channel}, "By channel."
                )
                for status in Status
            },
            "By status and channel. With the scope `operate`, each status is counted up to 10,000, and SENT among the "
            "newest 10,000 notifications.",
        ),
        "isComplete": {"type": "boolean", "description": "Whether nothing was left uncounted."},
        "oldestDueAgeSeconds": or_null(
            {
                "type": "number",
                "minimum": 0,
                "description": "How long the longest due one has been waiting for a worker.",
            }
        ),
        "pauses": {
            "type": "array",
            "items": reference("Pause"),
            "description": "What is paused, the oldest first; for a client, what holds its own up.",
        },
        "breakers": {
            "type": "array",
            "items": reference("BreakerState"),
            "description": "The health of the providers, in the order of the chains.",
        },
    },
    "How much there is to do.",
)

ACT_COMPONENTS = {
    "Stats": STATS,
    "OperatorAction": OPERATOR_ACTION,
    "RetryRequest": RETRY_REQUEST,
    "RetryManyRequest": RETRY_MANY_REQUEST,
    "RetriedMany": RETRIED_MANY,
    "ResolveRequest": RESOLVE_REQUEST,
    "RescheduleRequest": RESCHEDULE_REQUEST,
    "CancelTogetherRequest": CANCEL_TOGETHER_REQUEST,
    "CancelledTogether": CANCELLED_TOGETHER,
}
