"""The common ground of the webhook endpoints: what the services' errors mean in HTTP, and reading a body."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, cast

from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.auth import OWNERS, SENDERS
from notifications.api.view import NotificationsView
from notifyq.rest.parser import StrictJsonParser
from notifyq.rest.problem import Problem, field_error, invalid
from webhooks.errors import BeingDelivered, EndpointDisabled, TooManyEndpoints

_UNKNOWN_SHOWN_MOST = 20


class WebhooksView(NotificationsView):
    """Base of every endpoint. Looking, and having events sent again, takes the scope `send` of their own client, or
    `operate`. Whatever makes or changes an endpoint shows its secret, or decides where a client's outcomes are told: it
    takes `send`, and is done to one's own alone."""

    scopes: ClassVar = {"GET": SENDERS, "POST": OWNERS, "PATCH": OWNERS, "DELETE": OWNERS}

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(problem_of(exc) or exc)


class BodilessView(WebhooksView):
    """For acts that need no body. Many programs send an empty form along when they have nothing to say."""

    parser_classes = [StrictJsonParser, FormParser, MultiPartParser]


def body_fields(request: Request, known: Collection[str]) -> Mapping[str, Any]:
    """The body's fields.

    Raises:
        Problem: 400, naming those that are unknown.
    """
    body = cast("Mapping[str, Any]", request.data)
    unknown = [name for name in body if name not in known]
    if unknown:
        names = unknown[:_UNKNOWN_SHOWN_MOST]
        raise invalid(field_error(name[:100], "unknown", "is not a field of a request") for name in names)
    return body


def problem_of(error: Exception) -> Problem | None:
    """What a service's error means in HTTP; None for any other."""
    match error:
        case EndpointDisabled():
            return Problem(409, "endpoint-disabled", "The webhook endpoint is disabled. Enable it first.")
        case BeingDelivered():
            return Problem(409, "being-delivered", "The event is being delivered at this moment. Nothing was changed.")
        case TooManyEndpoints():
            return Problem(409, "too-many-endpoints", "The client has as many webhook endpoints as it may have.")
    return None
