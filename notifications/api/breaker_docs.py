"""What the OpenAPI document says of the breakers."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema

from notifications.api.describe import JSON, REQUEST_ID, good, responses
from notifications.api.json_schema import instant, one_of, or_null, reference, text, whole, whole_object
from notifications.breaker import BreakerState
from notifications.channel import Channel
from notifications.services.breakers import REASON_MAX_LENGTH

_STATE = {
    "channel": one_of(Channel, "The channel."),
    "provider": text("A name from the channel's chain.", 40),
    "state": one_of(
        BreakerState,
        "CLOSED: it is used. OPEN: it is passed over. HALF_OPEN: one call is under way, to see whether it is back.",
    ),
    "trippedByOperator": {"type": "boolean", "description": "An operator keeps it open until an operator resets it."},
}
_STATE_EXAMPLE = {"channel": "EMAIL", "provider": "smtp", "state": "OPEN", "trippedByOperator": False}
BREAKER_STATE = whole_object(_STATE, "Whether a provider is used.") | {"example": _STATE_EXAMPLE}
BREAKER = whole_object(
    {
        **_STATE,
        "consecutiveFailures": whole("Failed calls in a row, as far as the workers have said.", minimum=0),
        "openedAt": or_null(instant("When it opened last; null while it is closed.")),
        "failingSince": or_null(
            instant(
                "Since when it has been out of use without a break: the first opening of this outage, by failures or "
                "by an operator's trip. The failures that led to it came a little earlier. Null while it is closed."
            )
        ),
        "probeDueAt": or_null(instant("From then on one call is tried; null when none is going to be.")),
        "trips": whole(
            "How often it has opened: by failures, again after a failed probe, and by operators.", minimum=0
        ),
        "lastError": or_null(
            whole_object(
                {
                    "code": text("Our own or the vendor's."),
                    "message": or_null(text("What it means.")),
                    "at": instant("When it was noted."),
                },
                "The latest failure that was noted, that of a probe included. Kept when the breaker closes.",
            )
        ),
        "lastAct": or_null(
            whole_object(
                {
                    "act": one_of(("TRIP", "RESET"), "What was done."),
                    "by": text("Who did it."),
                    "at": instant("When."),
                    "reason": or_null(text("Why.")),
                },
                "What an operator did last.",
            )
        ),
        "throttledUntil": or_null(instant("The provider asked not to be called before; null when it did not.")),
        "ratePerSecond": or_null({"type": "number", "description": "Its own rate, over all workers; null for none."}),
    },
    "The breaker of one provider on one channel.",
) | {
    "example": {
        **_STATE_EXAMPLE,
        "consecutiveFailures": 5,
        "openedAt": "2030-01-31T09:00:00.000000Z",
        "failingSince": "2030-01-31T09:00:00.000000Z",
        "probeDueAt": "2030-01-31T09:01:00.000000Z",
        "trips": 3,
        "lastError": {
            "code": "connect_refused",
            "message": "no connection to the relay",
            "at": "2030-01-31T09:00:00.000000Z",
        },
        "lastAct": None,
        "throttledUntil": None,
        "ratePerSecond": None,
    }
}
BREAKER_COMPONENTS = {
    "Breaker": BREAKER,
    "BreakerState": BREAKER_STATE,
    "BreakerList": whole_object(
        {"results": {"type": "array", "items": reference("Breaker"), "description": "In the order of the chains."}},
        "All of them.",
    ),
    "BreakerActRequest": {
        "type": "object",
        "description": "May be empty.",
        "properties": {"reason": or_null(text("Why, for the record.", REASON_MAX_LENGTH))},
        "required": [],
        "additionalProperties": False,
        "example": {"reason": "the vendor's status page says so"},
    },
}

_CHANNEL = OpenApiParameter("channel", OpenApiTypes.STR, OpenApiParameter.PATH, description="The channel.")
_PROVIDER = OpenApiParameter(
    "provider", OpenApiTypes.STR, OpenApiParameter.PATH, description="A name from the channel's chain."
)

list_breakers = extend_schema(
    operation_id="listBreakers",
    tags=["operators"],
    summary="Show the health of the providers",
    description="The breaker of every channel and provider in use. Needs the scope `operate`.",
    parameters=[REQUEST_ID],
    responses=responses({200: good("BreakerList", "All of them.")}),
)

trip_breaker = extend_schema(
    operation_id="tripBreaker",
    tags=["operators"],
    summary="Take a provider out of use",
    description="Opens the breaker and keeps it open, without a probe, until it is reset. The other providers of the "
    "chain go on. The answer tells what is stored: it takes up to a second until all workers know, or a poll "
    "(`NOTIFYQ_POLL_SECONDS`) where that is longer; calls under way are finished. Safe to repeat. Needs the scope "
    "`operate`.",
    parameters=[REQUEST_ID, _CHANNEL, _PROVIDER],
    request={JSON: reference("BreakerActRequest")},
    responses=responses({200: good("Breaker", "It is open.")}, 404, 415),
)

reset_breaker = extend_schema(
    operation_id="resetBreaker",
    tags=["operators"],
    summary="Put a provider into use again",
    description="Closes the breaker, whoever opened it; failures are counted anew, and the rest that the provider "
    "asked for ends. It takes up to a second until all workers know, or a poll (`NOTIFYQ_POLL_SECONDS`) if longer. "
    "Safe to repeat. Needs the scope `operate`.",
    parameters=[REQUEST_ID, _CHANNEL, _PROVIDER],
    request={JSON: reference("BreakerActRequest")},
    responses=responses({200: good("Breaker", "It is closed.")}, 404, 415),
)
