"""POST /api/v1/notifications/{id}/cancel"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi, present
from notifications.api.auth import SENDERS
from notifications.api.view import NotificationsView
from notifyq.rest.parser import StrictJsonParser
from notifyq.rest.problem import field_error, invalid


class CancelNotification(NotificationsView):
    """Take one back before it is sent."""

    scopes: ClassVar = {"POST": SENDERS}
    # Many programs send an empty form along when they have nothing to say.
    parser_classes = [StrictJsonParser, FormParser, MultiPartParser]

    @openapi.cancel_notification
    def post(self, request: Request, notification_id: UUID) -> Response:
        """200 means that it is never sent; there is nothing to say in a body."""
        if request.data:
            names = list(request.data)[:20]
            raise invalid(field_error(name[:100], "unknown", "is not a field of a request") for name in names)
        return Response(present.notification(services.cancel(notification_id, self.holder(request).sees)))
