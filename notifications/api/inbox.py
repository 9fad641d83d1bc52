"""/api/v1/inbox/{userId}: list, count, mark as read"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import inbox
from notifications.api import inbox_openapi as openapi
from notifications.api import present
from notifications.api.auth import INBOX_KEEPERS, INBOX_READERS
from notifications.api.body import OPTIONAL_BODY, read_body
from notifications.api.view import NotificationsView
from notifications.channel import Channel
from notifications.request import canonical_recipient
from notifications.request.fields import Invalid
from notifyq.rest.pagination import paginate, read_place
from notifyq.rest.problem import field_error, invalid
from notifyq.rest.view import query_values


class InboxView(NotificationsView):
    """Base of what can be done with an inbox."""

    scopes: ClassVar = {"GET": INBOX_READERS}

    def user_id(self, text: str) -> str:
        """The user id in the address, in the form in which notifications have it.

        Raises:
            Problem: 400, no user can have this id.
        """
        try:
            return canonical_recipient(Channel.IN_APP, text)
        except Invalid as problem:
            raise invalid([field_error("userId", problem.code, problem.message)]) from None


class Inbox(InboxView):
    """The newest first."""

    @openapi.list_inbox
    def get(self, request: Request, user_id: str) -> Response:
        """One page."""
        values = query_values(request, {"unread", "limit", "cursor"}, checks=(read_place, _read_unread))
        limit, cursor = read_place(values)
        rows = inbox.entries(self.holder(request).sees, self.user_id(user_id), unread=_read_unread(values))
        return Response(paginate(request, rows, limit=limit, cursor=cursor, present=present.inbox_entry))


class UnreadCount(InboxView):
    """For the number beside the bell."""

    @openapi.count_unread
    def get(self, request: Request, user_id: str) -> Response:
        """Counted up to a bound, so that a long neglected inbox is answered as quickly as any other."""
        query_values(request, ())
        found = inbox.count_unread(self.holder(request).sees, self.user_id(user_id))
        return Response({"unread": found.count, "more": found.more})


class ReadEntry(InboxView):
    """One entry."""

    scopes: ClassVar = {"POST": INBOX_KEEPERS}
    parser_classes = OPTIONAL_BODY

    @openapi.read_entry
    def post(self, request: Request, user_id: str, entry_id: UUID) -> Response:
        """200 also when it was read before."""
        read_body(request, ())
        entry = inbox.mark_read(self.holder(request).client, self.user_id(user_id), entry_id)
        return Response(present.inbox_entry(entry))


class ReadAllEntries(InboxView):
    """All that is unread."""

    scopes: ClassVar = {"POST": INBOX_KEEPERS}
    parser_classes = OPTIONAL_BODY

    @openapi.read_all
    def post(self, request: Request, user_id: str) -> Response:
        """Says how many this call marked."""
        read_body(request, ())
        marked = inbox.mark_all_read(self.holder(request).client, self.user_id(user_id))
        return Response({"read": marked.count, "more": marked.more})


def _read_unread(values: Mapping[str, list[str]]) -> bool:
    """Raises `Problem` (400) unless it is true, false or absent."""
    text = values.get("unread", ["false"])[0]
    if text not in ("true", "false"):
        raise invalid([field_error("unread", "not_a_boolean", "must be true or false")])
    return text == "true"
