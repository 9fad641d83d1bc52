"""JSON Schemas of inboxes."""

from __future__ import annotations

from notifications.api.json_schema import Schema, instant, or_null, pairs, reference, text, whole, whole_object
from notifications.inbox import COUNTED_MOST

_EXAMPLE = {
    "id": "01a22cbf-6f3a-7001-9d41-2b6f0e7a550d",
    "notificationId": "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8",
    "client": "shop",
    "userId": "user-42",
    "subject": "Your parcel is here",
    "body": "Fetch it at the desk.",
    "data": {"screen": "parcels"},
    "collapseKey": "parcel-1234",
    "createdAt": "2030-01-31T08:00:00.412650Z",
    "expiresAt": None,
    "readAt": None,
}
READ_EXAMPLE = _EXAMPLE | {"readAt": "2030-01-31T08:02:11.000000Z"}

INBOX_ENTRY = whole_object(
    {
        "id": {"type": "string", "format": "uuid", "description": "Time-ordered."},
        "notificationId": {"type": "string", "format": "uuid", "description": "The notification that it shows."},
        "client": text("The name of the client whose user it is."),
        "userId": text("Whose inbox it stands in."),
        "subject": or_null(text("The title.")),
        "body": text("The text."),
        "data": pairs("String pairs for the app."),
        "collapseKey": or_null(text("An unread entry is replaced by a newer one with the same.")),
        "createdAt": instant("When it came."),
        "expiresAt": or_null(instant("The notification's; it stays in the inbox, and the app may hide it.")),
        "readAt": or_null(instant("When it was marked as read.")),
    },
    "One notification in a user's inbox.",
) | {"example": _EXAMPLE}

_URL = or_null({"type": "string", "format": "uri", "description": "Null at the end of the list."})
INBOX_PAGE = whole_object(
    {"results": {"type": "array", "items": reference("InboxEntry")}, "next": _URL, "previous": _URL},
    "One page of an inbox; `next` leads to older ones, `previous` to newer ones.",
) | {"example": {"results": [_EXAMPLE], "next": None, "previous": None}}

_MORE: Schema = {"type": "boolean", "description": f"Whether there are others beyond {COUNTED_MOST:,}."}
UNREAD_COUNT = whole_object(
    {"unread": whole(f"How many are unread, counted up to {COUNTED_MOST:,}.", minimum=0), "more": _MORE},
    "For the number beside the bell.",
) | {"example": {"unread": 3, "more": False}}
READ_ALL = whole_object(
    {
        "read": whole(f"How many this call marked, at most {COUNTED_MOST:,}.", minimum=0),
        "more": {"type": "boolean", "description": "Whether some are left for another call."},
    },
    "What came of it.",
) | {"example": {"read": 3, "more": False}}

INBOX_COMPONENTS = {
    "InboxEntry": INBOX_ENTRY,
    "InboxPage": INBOX_PAGE,
    "UnreadCount": UNREAD_COUNT,
    "ReadAllResult": READ_ALL,
}
