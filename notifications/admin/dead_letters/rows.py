"""One of the undelivered as a list shows it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from notifications.models import Notification
from notifications.outcome import UNCONFIRMED
from notifications.status import Status
from notifications.undelivered import NONE, UNDELIVERED
from notifyq.console import masked
from notifyq.roles import SEE_PRIVATE

_DELIVERED = "DELIVERED"


@dataclass(frozen=True, slots=True)
class Row:
    """A notification, and what is worked out of it.

    Attributes:
        recipient: masked for those who may not see it.
        is_held: it may have been sent, and an operator has to decide.
        is_reported: its provider says that it was delivered.
        is_open: it is undelivered still, so that something can be done.
    """

    of: Notification
    recipient: str
    is_held: bool
    is_reported: bool
    is_open: bool

    @property
    def short_id(self) -> str:
        """The end tells them apart: the beginning of a version 7 UUID is the time."""
        return f"…{str(self.of.pk)[-12:]}"

    @property
    def provider(self) -> str:
        return self.of.last_used_provider or NONE

    @property
    def error_code(self) -> str:
        return self.of.last_error_code or NONE


def row_of(notification: Notification, request: HttpRequest) -> Row:
    """As this person may see it."""
    sees = request.user.has_perm(SEE_PRIVATE)
    dead = notification.status == Status.DEAD_LETTERED
    unsure = notification.last_error_code == UNCONFIRMED or bool(notification.unconfirmed_provider)
    # Receipts bring this column.
    reported = getattr(notification, "delivery_status", "") == _DELIVERED
    return Row(
        notification,
        notification.recipient if sees else masked(notification.recipient),
        is_held=dead and unsure,
        is_reported=dead and reported,
        is_open=notification.status in UNDELIVERED,
    )
