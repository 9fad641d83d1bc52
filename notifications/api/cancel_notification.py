"""POST /api/v1/notifications/{id}/cancel"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi, present
from notifications.api.auth import SENDERS
from notifications.api.body import OPTIONAL_BODY, read_body
from notifications.api.view import NotificationsView


class CancelNotification(NotificationsView):
    """Take one back before it is sent."""

    scopes: ClassVar = {"POST": SENDERS}
    parser_classes = OPTIONAL_BODY

    @openapi.cancel_notification
    def post(self, request: Request, notification_id: UUID) -> Response:
        """200 means that it is never sent; there is nothing to say in a body."""
        read_body(request, ())
        holder = self.holder(request)
        return Response(present.notification(services.cancel(notification_id, holder.sees, holder.operator)))
