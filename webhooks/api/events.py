"""/api/v1/webhook-events: list, read, deliver again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.auth import SENDERS
from notifyq.rest.pagination import paginate, read_place
from notifyq.rest.problem import field_error, invalid
from notifyq.rest.view import query_values
from webhooks import selectors, services
from webhooks.api import openapi, present
from webhooks.api.view import BodilessView, WebhooksView, body_fields
from webhooks.selectors import EventFilter
from webhooks.status import EventStatus

_IDS = {"notificationId": "notification_id", "endpointId": "endpoint_id"}


class EventCollection(WebhooksView):
    """Events of the client's endpoints, the newest first."""

    http_method_names = ["get", "head"]

    @openapi.list_events
    def get(self, request: Request) -> Response:
        """One page of those that match."""
        values = query_values(request, {*_IDS, "status", "limit", "cursor"}, checks=(read_place, read_filter))
        limit, cursor = read_place(values)
        rows = selectors.events(self.holder(request).sees, read_filter(values))
        return Response(paginate(request, rows, limit=limit, cursor=cursor, present=present.event))


class OneEvent(WebhooksView):
    """One event with its payload and attempts; 404 also for another client's."""

    http_method_names = ["get", "head"]

    @openapi.read_event
    def get(self, request: Request, event_id: UUID) -> Response:
        query_values(request, ())
        row = selectors.event(event_id, self.holder(request).sees)
        return Response(present.event_in_full(row, selectors.attempts(row.pk)))


class Redeliver(BodilessView):
    """Deliver one event now, with its id and body as they were."""

    scopes: ClassVar = {"POST": SENDERS}
    http_method_names = ["post"]

    @openapi.redeliver
    def post(self, request: Request, event_id: UUID) -> Response:
        body_fields(request, ())
        return Response(present.event(services.redeliver(event_id, self.holder(request).sees)), status=202)


def read_filter(values: Mapping[str, list[str]]) -> EventFilter:
    """What the query asks for.

    Raises:
        Problem: 400, naming every parameter that is wrong.
    """
    ids: dict[str, UUID] = {}
    errors = []
    for name in _IDS.keys() & values.keys():
        try:
            ids[_IDS[name]] = UUID(values[name][0])
        except ValueError:
            errors.append(field_error(name, "not_a_uuid", "must be a UUID"))
    status = values.get("status", [None])[0]
    if status is not None and status not in set(EventStatus):
        errors.append(field_error("status", "not_an_option", f"must be one of {', '.join(EventStatus)}"))
    if errors:
        raise invalid(errors)
    return EventFilter(status=EventStatus(status) if status else None, **ids)
