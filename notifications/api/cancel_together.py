"""POST /api/v1/notifications/cancel"""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi
from notifications.api.auth import SENDERS
from notifications.api.body import read_body, read_uuid
from notifications.api.view import NotificationsView


class CancelTogether(NotificationsView):
    """Take back all that belong together."""

    scopes: ClassVar = {"POST": SENDERS}

    @openapi.cancel_together
    def post(self, request: Request) -> Response:
        """Says how many are never sent, and for how many it came too late."""
        values = read_body(request, ("groupId", "reference"))
        holder = self.holder(request)
        group_id = read_uuid("groupId", values["group_id"])
        done = services.cancel_together(holder.sees, holder.operator, group_id=group_id, reference=values["reference"])
        return Response({"cancelled": done.cancelled_count, "tooLate": done.too_late_count})
