"""POST /api/v1/notifications"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi, present
from notifications.api.auth import SENDERS
from notifications.api.body import unknown_fields
from notifications.api.names import REQUEST_FIELDS, camel_errors, snake
from notifications.api.view import NotificationsView
from notifications.errors import InvalidRequest
from notifyq.rest.problem import field_error, invalid

KEY_HEADER = "Idempotency-Key"
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')


class CreateNotification(NotificationsView):
    """Accept one notification."""

    scopes: ClassVar = {"POST": SENDERS}

    @openapi.create_notification
    def post(self, request: Request) -> Response:
        """201 once it is committed; 200 for a repeat."""
        values = read_request(cast("dict[str, Any]", request.data), header_key(request))
        submission = services.submit(client=self.holder(request).client, **values)
        row = submission.notification
        if not submission.created:
            return Response(present.notification(row), headers={"Idempotency-Replayed": "true"})
        location = request.build_absolute_uri(reverse("notification", args=[row.pk]))
        return Response(present.notification(row), status=201, headers={"Location": location})


def header_key(request: Request) -> str | None:
    """The key in the header, with its quotes taken off; None when there is no such header."""
    sent = request.headers.get(KEY_HEADER)
    if sent is None:
        return None
    with contextlib.suppress(UnicodeError):
        # WSGI hands headers over as Latin-1; a key in UTF-8 has to equal the same key in a body.
        sent = sent.encode("latin-1").decode("utf-8")
    quoted = _QUOTED.fullmatch(sent)
    return re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else sent


def read_request(body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """The arguments of `services.submit` (without the client) from the JSON body and the header's key.

    Raises:
        Problem: 400; an unknown field is told together with all else that is wrong.
    """
    values = {snake(name): body.get(name) for name in REQUEST_FIELDS}
    errors = unknown_fields(body, REQUEST_FIELDS)
    if key is not None:
        if values["idempotency_key"] not in (None, key):
            errors.append(field_error("idempotencyKey", "conflict", f"must not differ from the {KEY_HEADER} header"))
        values["idempotency_key"] = key
    if errors:
        raise invalid(errors + _all_else(values))
    return values


def _all_else(values: Mapping[str, Any]) -> list[dict[str, str]]:
    try:
        services.check_request(values)
    except InvalidRequest as found:
        return camel_errors(found.errors)
    return []
