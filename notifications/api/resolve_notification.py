"""POST /api/v1/notifications/{id}/resolve"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi, present
from notifications.api.auth import OPERATORS
from notifications.api.body import read_body
from notifications.api.view import NotificationsView


class ResolveNotification(NotificationsView):
    """Say what became of one of which nobody knew."""

    scopes: ClassVar = {"POST": OPERATORS}

    @openapi.resolve_notification
    def post(self, request: Request, notification_id: UUID) -> Response:
        """Only for one that is held as UNCONFIRMED."""
        values = read_body(request, ("outcome", "reason"))
        row = services.resolve(notification_id, self.holder(request).actor, **values)
        return Response(present.notification(row))
