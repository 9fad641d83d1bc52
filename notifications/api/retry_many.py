"""POST /api/v1/notifications/retry"""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi
from notifications.api.auth import OPERATORS
from notifications.api.body import OPTIONAL_BODY, read_body
from notifications.api.view import NotificationsView
from notifyq.runtime.instants import rfc3339

FIELDS = (
    *("status", "channel", "provider", "errorCode", "finishedAfter", "finishedBefore"),
    *("limit", "dryRun", "reason"),
)


class RetryMany(NotificationsView):
    """Give many that ended undelivered a new budget of attempts."""

    scopes: ClassVar = {"POST": OPERATORS}
    parser_classes = OPTIONAL_BODY

    @openapi.retry_many
    def post(self, request: Request) -> Response:
        """`cutoff`, sent back as `finishedBefore`, makes a series of calls end."""
        done = services.retry_many(self.holder(request).actor, **read_body(request, FIELDS))
        return Response(
            {
                "retried": done.retried_count,
                "skippedExpired": done.skipped_count,
                "remaining": done.remaining_count,
                "cutoff": rfc3339(done.cutoff),
            }
        )
