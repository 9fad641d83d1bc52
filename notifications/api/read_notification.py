"""GET /api/v1/notifications/{id}"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import selectors, waiting
from notifications.api import openapi, present
from notifications.api.auth import READERS
from notifications.api.view import NotificationsView
from notifyq.rest.view import query_values


class ReadNotification(NotificationsView):
    """One, with its content and its history."""

    scopes: ClassVar = {"GET": READERS}

    @openapi.read_notification
    def get(self, request: Request, notification_id: UUID) -> Response:
        """404 also for another client's."""
        query_values(request, ())
        row = selectors.one(notification_id, self.holder(request).sees)
        return Response(present.notification_in_full(row, waiting.outages))
