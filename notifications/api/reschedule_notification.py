"""POST /api/v1/notifications/{id}/reschedule"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services, waiting
from notifications.api import openapi, present
from notifications.api.auth import SENDERS
from notifications.api.body import read_body
from notifications.api.view import NotificationsView


class RescheduleNotification(NotificationsView):
    """Give one that waits another time."""

    scopes: ClassVar = {"POST": SENDERS}

    @openapi.reschedule_notification
    def post(self, request: Request, notification_id: UUID) -> Response:
        """200 means that it is not sent before the new time."""
        values = read_body(request, ("sendAt", "delaySeconds"))
        holder = self.holder(request)
        row = services.reschedule(notification_id, holder.sees, holder.operator, **values)
        return Response(present.notification(row, waiting.outages))
