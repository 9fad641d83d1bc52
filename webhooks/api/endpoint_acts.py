"""POST /api/v1/webhook-endpoints/{id}/rotate-secret, …/test and …/replay"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.auth import SENDERS
from notifyq.runtime.instants import rfc3339
from webhooks import services
from webhooks.api import openapi, present
from webhooks.api.view import BodilessView, WebhooksView, body_fields


class RotateSecret(BodilessView):
    """A new secret; for 24 hours both sign."""

    http_method_names = ["post"]

    @openapi.rotate_secret
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        body_fields(request, ())
        row, secret = services.rotate_secret(endpoint_id, self.holder(request).client)
        return Response(present.endpoint_with_secret(row, secret))


class SendTest(BodilessView):
    """An event of its own type, delivered like any other."""

    http_method_names = ["post"]

    @openapi.send_test
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        body_fields(request, ())
        return Response(present.event(services.send_test(endpoint_id, self.holder(request).client)), status=202)


class Replay(WebhooksView):
    """Send again what was finished in a range of time."""

    scopes: ClassVar = {"POST": SENDERS}
    http_method_names = ["post"]

    @openapi.replay
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        fields = body_fields(request, ("since", "until", "status"))
        done = services.replay(endpoint_id, self.holder(request).sees, fields)
        return Response({"replayed": done.count, "nextSince": rfc3339(done.next_since)})
