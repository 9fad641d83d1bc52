"""A notification as the lists of our own show it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications.admin.tones import STATUS_TONES
from notifications.models import Notification
from notifications.outcome import UNCONFIRMED
from notifications.receipts import DeliveryStatus
from notifications.receipts.status import proves_acceptance
from notifications.status import Status
from notifications.undelivered import NONE
from notifyq.console import masked
from notifyq.roles import SEE_PRIVATE

_ARRIVED = (DeliveryStatus.DELIVERED, DeliveryStatus.OPENED, DeliveryStatus.COMPLAINED)


@dataclass(frozen=True, slots=True)
class Row:
    """A notification, and what is worked out of it.

    Attributes:
        recipient: masked for those who may not see it.
        is_held: it may have been sent, and an operator has to decide.
        advice: what its provider's reports speak for; empty where there are none, or they say nothing of that.
    """

    of: Notification
    recipient: str
    is_held: bool
    advice: str

    @property
    def short_id(self) -> str:
        return short_id(self.of.pk)

    @property
    def link(self) -> SafeString:
        return link_to(self.of.pk)

    @property
    def tone(self) -> str:
        return STATUS_TONES.get(Status(self.of.status), "quiet")

    @property
    def provider(self) -> str:
        return self.of.last_used_provider or NONE

    @property
    def error_code(self) -> str:
        return self.of.last_error_code or NONE


def short_id(identity: UUID) -> str:
    """The end tells them apart: the beginning of a version 7 UUID is the time."""
    return f"…{str(identity)[-12:]}"


def link_to(identity: UUID) -> SafeString:
    """The end of its id, leading to its page."""
    page = reverse("admin:notifications_notification_change", args=[identity])
    return format_html('<a class="nq-id" href="{}" title="{}">{}</a>', page, identity, short_id(identity))


def row_of(notification: Notification, request: HttpRequest) -> Row:
    """As this person may see it."""
    sees = request.user.has_perm(SEE_PRIVATE)
    dead = notification.status == Status.DEAD_LETTERED
    unsure = notification.last_error_code == UNCONFIRMED or bool(notification.unconfirmed_provider)
    return Row(
        notification,
        notification.recipient if sees else masked(notification.recipient),
        is_held=dead and unsure,
        advice=_advice(notification.delivery_status, held=unsure) if dead else "",
    )


def _advice(reported: str, *, held: bool) -> str:
    """What to do about a dead letter of which the provider reports this."""
    if not reported:
        return ""
    if not proves_acceptance(reported):
        return f"Its provider reports {reported}: mark it as not delivered." if held else ""
    if held and reported in _ARRIVED:
        return f"Its provider reports {reported}: mark it as sent."
    return f"Its provider reports {reported}: it was sent, and a retry may send a second copy."
