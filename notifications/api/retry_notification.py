"""POST /api/v1/notifications/{id}/retry"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services, waiting
from notifications.api import openapi, present
from notifications.api.auth import OPERATORS
from notifications.api.body import OPTIONAL_BODY, read_body
from notifications.api.view import NotificationsView


class RetryNotification(NotificationsView):
    """Give one that ended undelivered a new budget of attempts."""

    scopes: ClassVar = {"POST": OPERATORS}
    parser_classes = OPTIONAL_BODY

    @openapi.retry_notification
    def post(self, request: Request, notification_id: UUID) -> Response:
        """200 to one of several who ask at once; it is too late for the others."""
        values = read_body(request, ("reason", "expiresAt"))
        row = services.retry(notification_id, self.holder(request).actor, **values)
        return Response(present.notification(row, waiting.outages))
