"""What the OpenAPI document says of inboxes."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema

from notifications.api.describe import REQUEST_ID, good, query, responses
from notifications.api.inbox_schemas import READ_EXAMPLE
from notifyq.rest.pagination import LIMIT_DEFAULT, LIMIT_MAX

_LOOKS = "Needs the scope `inbox` or `send`; with `operate`, the users of this id of every client are meant."
_MARKS = (
    "Needs the scope `inbox` or `send`, and never touches another client's users: `operate` alone may look, not mark."
)
_USER = OpenApiParameter(
    "user_id",
    {"type": "string", "minLength": 1, "maxLength": 255},
    OpenApiParameter.PATH,
    description="The `recipient` of IN_APP notifications, percent-encoded.",
)
_ENTRY = OpenApiParameter("entry_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The entry's id.")

list_inbox = extend_schema(
    operation_id="listInbox",
    tags=["inbox"],
    summary="List a user's inbox",
    description=f"The client's own user; newest first. A user who never got anything has an empty inbox. {_LOOKS}",
    parameters=[
        REQUEST_ID,
        _USER,
        query("unread", {"type": "boolean", "default": False}, "Only those that are not read."),
        query(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
            "How many on a page.",
        ),
        query("cursor", OpenApiTypes.STR, "Where to go on; taken from `next` or `previous`."),
    ],
    responses=responses({200: good("InboxPage", "One page.")}, 404),
)

count_unread = extend_schema(
    operation_id="countUnread",
    tags=["inbox"],
    summary="Count what a user has not read",
    description=f"Quick for any inbox, as it stops counting at a bound. {_LOOKS}",
    parameters=[REQUEST_ID, _USER],
    responses=responses({200: good("UnreadCount", "As it is now.")}, 404),
)

read_entry = extend_schema(
    operation_id="readEntry",
    tags=["inbox"],
    summary="Mark one entry as read",
    description=f"Safe to repeat: `readAt` stays what it was. {_MARKS}",
    parameters=[REQUEST_ID, _USER, _ENTRY],
    request=None,
    responses=responses({200: good("InboxEntry", "It is read.", Read=READ_EXAMPLE)}, 404, 415),
)

read_all = extend_schema(
    operation_id="readAllEntries",
    tags=["inbox"],
    summary="Mark all entries of a user as read",
    description=f"Those that are there at the time of the call. Repeat it while `more` is true. {_MARKS}",
    parameters=[REQUEST_ID, _USER],
    request=None,
    responses=responses({200: good("ReadAllResult", "Done.")}, 404, 415),
)
