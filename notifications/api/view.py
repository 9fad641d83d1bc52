"""The common ground of the notification endpoints: who asks, and what the services' errors mean in HTTP."""

from __future__ import annotations

from typing import cast

from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.auth import KeyAuthentication, KeyHolder
from notifications.api.names import camel, camel_errors
from notifications.errors import IdempotencyConflict, InvalidRequest, NotFound, PastExpiry, TooLate
from notifyq.rest.problem import Problem, field_error, invalid, not_found
from notifyq.rest.view import ApiView


class NotificationsView(ApiView):
    """Base of every endpoint here."""

    authentication_classes = [KeyAuthentication]

    def holder(self, request: Request) -> KeyHolder:
        """Who asks; the permission has let nobody else through."""
        return cast("KeyHolder", request.user)

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(problem_of(exc) or exc)


def problem_of(error: Exception) -> Problem | None:
    """What a service's error means in HTTP; None for any other."""
    match error:
        case InvalidRequest():
            return invalid(camel_errors(error.errors))
        case IdempotencyConflict():
            detail = "This key belongs to a notification with other details. Nothing was stored."
            errors = [field_error("idempotencyKey", "conflict", "was used before with other details")]
            return Problem(409, "idempotency-conflict", detail, errors=errors)
        case NotFound():
            return not_found()
        case TooLate():
            return _too_late(error)
        case PastExpiry():
            errors = [field_error(camel(error.field), "past_expiry", error.message)]
            return Problem(
                409, "past-expiry", "Its time of expiry stands against it. Nothing was changed.", errors=errors
            )
    return None


def _too_late(error: TooLate) -> Problem:
    if error.may_have_been_sent:
        return Problem(409, "may-have-been-sent", "An attempt is open of which nobody knows yet whether it was sent.")
    return Problem(409, "too-late", f"The notification is {error.status}. Nothing was changed.")
