"""POST /api/v1/notifications"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi, present
from notifications.api.auth import SENDERS
from notifications.api.read import header_key, read_group_request, read_request
from notifications.api.view import NotificationsView

_REPLAYED = {"Idempotency-Replayed": "true"}


class CreateNotification(NotificationsView):
    """Accept one notification, or one for each of several targets."""

    scopes: ClassVar = {"POST": SENDERS}

    @openapi.create_notification
    def post(self, request: Request) -> Response:
        """201 once it is committed; 200 for a repeat."""
        body, key = cast("dict[str, Any]", request.data), header_key(request)
        return self._one(request, body, key) if body.get("targets") is None else self._group(request, body, key)

    def _one(self, request: Request, body: dict[str, Any], key: str | None) -> Response:
        values = read_request({name: body[name] for name in body if name != "targets"}, key)
        submission = services.submit(client=self.holder(request).client, **values)
        answer = present.notification(submission.notification)
        address = reverse("notification", args=[submission.notification.pk])
        return self._answer(request, answer, address, created=submission.created)

    def _group(self, request: Request, body: dict[str, Any], key: str | None) -> Response:
        submission = services.submit_group(self.holder(request).client, read_group_request(body, key))
        answer = present.group(submission.group_id, submission.notifications)
        address = f"{reverse('notifications')}?groupId={submission.group_id}"
        return self._answer(request, answer, address, created=submission.created)

    def _answer(self, request: Request, answer: dict[str, Any], address: str, *, created: bool) -> Response:
        if not created:
            return Response(answer, headers=_REPLAYED)
        return Response(answer, status=201, headers={"Location": request.build_absolute_uri(address)})
