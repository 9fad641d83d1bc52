"""/api/v1/webhook-endpoints: list, create, read, change, delete."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from notifyq.rest.pagination import Cursor, paginate, read_limit
from notifyq.rest.view import query_values
from webhooks import selectors, services
from webhooks.api import openapi, present
from webhooks.api.view import WebhooksView, body_fields

FIELDS = ("url", "description", "events", "enabled")


class EndpointCollection(WebhooksView):
    """All endpoints of the client."""

    http_method_names = ["get", "head", "post"]

    @openapi.list_endpoints
    def get(self, request: Request) -> Response:
        """One page, the newest first."""
        values = query_values(request, {"limit", "cursor"})
        limit = read_limit(*values.get("limit", [None]))
        cursor = Cursor.decode(values["cursor"][0]) if "cursor" in values else None
        rows = selectors.endpoints(self.holder(request).sees)
        return Response(paginate(request, rows, limit=limit, cursor=cursor, present=present.endpoint))

    @openapi.create_endpoint
    def post(self, request: Request) -> Response:
        """201 with the secret, which is shown only here."""
        row, secret = services.create_endpoint(self.holder(request).client, body_fields(request, FIELDS))
        location = request.build_absolute_uri(reverse("webhook-endpoint", args=[row.pk]))
        return Response(present.endpoint_with_secret(row, secret), status=201, headers={"Location": location})


class OneEndpoint(WebhooksView):
    """One endpoint; 404 also for another client's."""

    http_method_names = ["get", "head", "patch", "delete"]

    @openapi.read_endpoint
    def get(self, request: Request, endpoint_id: UUID) -> Response:
        query_values(request, ())
        return Response(present.endpoint(selectors.endpoint(endpoint_id, self.holder(request).sees)))

    @openapi.change_endpoint
    def patch(self, request: Request, endpoint_id: UUID) -> Response:
        """Only what is given is changed."""
        row = services.change_endpoint(endpoint_id, self.holder(request).client, body_fields(request, FIELDS))
        return Response(present.endpoint(row))

    @openapi.delete_endpoint
    def delete(self, request: Request, endpoint_id: UUID) -> Response:
        services.delete_endpoint(endpoint_id, self.holder(request).client)
        return Response(status=204)
