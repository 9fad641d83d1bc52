"""GET and POST /api/v1/pauses, DELETE /api/v1/pauses/{id}"""

from __future__ import annotations

from typing import Any, ClassVar, cast
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import selectors, services
from notifications.api import openapi, present
from notifications.api.auth import OPERATORS
from notifications.api.view import NotificationsView
from notifyq.rest.problem import field_error, invalid
from notifyq.rest.view import query_values

FIELDS = ("scope", "value", "reason")


class Pauses(NotificationsView):
    """What is paused, and pausing more."""

    scopes: ClassVar = {"GET": OPERATORS, "POST": OPERATORS}

    @openapi.list_pauses
    def get(self, request: Request) -> Response:
        """Those in force, the oldest first; there are never many."""
        query_values(request, ())
        return Response({"results": [present.pause(row) for row in selectors.active_pauses()]})

    @openapi.create_pause
    def post(self, request: Request) -> Response:
        """201 when this call began it; 200 when the same is paused already."""
        body = cast("dict[str, Any]", request.data)
        unknown = [name for name in body if name not in FIELDS]
        if unknown:
            raise invalid(field_error(name[:100], "unknown", "is not a field of a request") for name in unknown[:20])
        values = {name: body.get(name) for name in FIELDS}
        row, begun = services.pause(
            values["scope"], values["value"], reason=values["reason"], by=self.holder(request).name
        )
        return Response(present.pause(row), status=201 if begun else 200)


class Pause(NotificationsView):
    """One pause."""

    scopes: ClassVar = {"DELETE": OPERATORS}

    @openapi.end_pause
    def delete(self, request: Request, pause_id: UUID) -> Response:
        """204; what it kept goes on."""
        query_values(request, ())
        services.resume(pause_id, by=self.holder(request).name)
        return Response(status=204)
