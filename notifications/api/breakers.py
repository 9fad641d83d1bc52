"""GET /api/v1/breakers, POST /api/v1/breakers/{channel}/{provider}/trip and …/reset"""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import selectors, services
from notifications.api import breaker_docs, present
from notifications.api.auth import OPERATORS
from notifications.api.body import OPTIONAL_BODY, read_body
from notifications.api.view import NotificationsView
from notifyq.rest.view import query_values


class Breakers(NotificationsView):
    """The health of all providers."""

    scopes: ClassVar = {"GET": OPERATORS}

    @breaker_docs.list_breakers
    def get(self, request: Request) -> Response:
        """Of every channel and provider in use, in the order of the chains."""
        query_values(request, ())
        return Response({"results": [present.breaker(view) for view in selectors.breakers()]})


class TripBreaker(NotificationsView):
    """Take a provider out of use."""

    scopes: ClassVar = {"POST": OPERATORS}
    parser_classes = OPTIONAL_BODY

    @breaker_docs.trip_breaker
    def post(self, request: Request, channel: str, provider: str) -> Response:
        """200 also when it was tripped before."""
        values = read_body(request, ("reason",))
        view = services.trip_breaker(channel, provider, **values, by=self.holder(request).name)
        return Response(present.breaker(view))


class ResetBreaker(NotificationsView):
    """Put a provider into use again."""

    scopes: ClassVar = {"POST": OPERATORS}
    parser_classes = OPTIONAL_BODY

    @breaker_docs.reset_breaker
    def post(self, request: Request, channel: str, provider: str) -> Response:
        """200 also when it was closed."""
        values = read_body(request, ("reason",))
        view = services.reset_breaker(channel, provider, **values, by=self.holder(request).name)
        return Response(present.breaker(view))
