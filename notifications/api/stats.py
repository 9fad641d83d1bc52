"""GET /api/v1/stats"""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import counting, selectors
from notifications.api import openapi, present
from notifications.api.auth import READERS
from notifications.api.view import NotificationsView
from notifyq.rest.view import query_values


class Stats(NotificationsView):
    """How much there is to do."""

    scopes: ClassVar = {"GET": READERS}

    @openapi.stats
    def get(self, request: Request) -> Response:
        """Of the whole queue for an operator, of its own notifications for a client."""
        query_values(request, ())
        client = self.holder(request).sees
        counts = counting.count_all() if client is None else counting.count_own(client)
        pauses = [present.pause(row) for row in selectors.active_pauses(client)]
        breakers = [present.breaker_state(view) for view in selectors.breakers()]
        return Response({**present.counts(counts), "pauses": pauses, "breakers": breakers})
