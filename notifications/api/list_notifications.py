"""GET /api/v1/notifications"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import selectors, waiting
from notifications.api import openapi, present
from notifications.api.auth import READERS
from notifications.api.view import NotificationsView
from notifications.channel import Channel, Priority
from notifications.receipts import DeliveryStatus
from notifications.request import canonical_filter, parse_instant
from notifications.request.fields import LABEL_MAX_LENGTH, Invalid, within
from notifications.selectors import NotificationFilter
from notifications.status import Status
from notifyq.rest.pagination import paginate, read_place
from notifyq.rest.problem import field_error, invalid
from notifyq.rest.view import query_values


class ListNotifications(NotificationsView):
    """The newest first."""

    scopes: ClassVar = {"GET": READERS}

    @openapi.list_notifications
    def get(self, request: Request) -> Response:
        """One page of those that match."""
        known = {*_PARAMETERS, "status", "recipient", "limit", "cursor"}
        values = query_values(request, known, repeatable={"status"}, checks=(read_place, read_filter))
        limit, cursor = read_place(values)
        rows = selectors.listed(self.holder(request).sees, read_filter(values))
        shown = partial(present.notification, outages=cache(waiting.outages))
        return Response(paginate(request, rows, limit=limit, cursor=cursor, present=shown))


def read_filter(values: Mapping[str, list[str]]) -> NotificationFilter:
    """What the query asks for.

    Raises:
        Problem: 400, naming every parameter that is wrong.
    """
    wanted: dict[str, Any] = {}
    errors: list[dict[str, str]] = []
    for name, texts in values.items():
        try:
            if name == "status":
                wanted["statuses"] = _statuses(texts)
            elif name == "recipient":
                wanted["recipient"] = _recipient(texts[0], _named_channel(values))
            elif name in _PARAMETERS:
                attribute, read = _PARAMETERS[name]
                wanted[attribute] = read(texts[0])
        except Invalid as problem:
            errors.append(field_error(name, problem.code, problem.message))
    if errors:
        raise invalid(errors)
    return NotificationFilter(**wanted)


def _statuses(texts: Sequence[str]) -> list[Status]:
    return [Status[_one_of(Status.__members__, text)] for text in dict.fromkeys(texts)]


def _one_of(names: Any, text: str) -> str:
    if text not in names:
        raise Invalid("not_an_option", f"must be one of {', '.join(names)}")
    return text


def _named_channel(values: Mapping[str, list[str]]) -> Channel | None:
    """The channel that the query names; None when it names none, or none that there is."""
    return Channel.__members__.get(values.get("channel", [""])[0])


def _label(text: str) -> str:
    if not text:
        raise Invalid("required", "must not be empty")
    within(text, max_length=LABEL_MAX_LENGTH)
    return text


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Invalid("not_a_uuid", "must be a UUID") from None


def _recipient(text: str, channel: Channel | None) -> str:
    if channel is not Channel.IN_APP and re.match(r" *[0-9]", text):
        # No guess as with times: of several addresses of a person, the wrong list would look like an answer.
        message = (
            "must begin with + for a phone number; in a URL, + is written %2B (for a user id, give channel=IN_APP)"
        )
        raise Invalid("not_an_address", message)
    return canonical_filter(text, channel)


def _instant(text: str) -> object:
    """A `+` that was not escaped has become a space on its way."""
    return parse_instant(re.sub(r" (\d\d:\d\d)$", r"+\1", text))


_PARAMETERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "channel": ("channel", lambda text: Channel[_one_of(Channel.__members__, text)]),
    "priority": ("priority", lambda text: Priority[_one_of(Priority.__members__, text)]),
    "reference": ("reference", _label),
    "userId": ("user_id", _label),
    "groupId": ("group_id", _uuid),
    "errorCode": ("error_code", _label),
    "deliveryStatus": ("delivery_status", lambda text: DeliveryStatus[_one_of(DeliveryStatus.__members__, text)]),
    "createdAfter": ("created_after", _instant),
    "createdBefore": ("created_before", _instant),
}
