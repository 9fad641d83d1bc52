"""What the forms on the page of a notification do: each calls the service that the API calls, and says what came of it.

They answer a POST alone, always with a redirect to the page, so that a reload repeats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from notifications import selectors, services
from notifications.admin.typed import refuse
from notifications.admin.wording import sentence
from notifications.errors import ActedMeanwhile, InvalidRequest, NotFound, NotifyError, PastExpiry, TooLate
from notifications.models import ActorKind
from notifications.services import Actor
from notifications.status import Status
from notifications.story.acts import Deed
from notifyq.console import Page, add_page, instant
from notifyq.roles import OPERATE
from notifyq.runtime.instants import utc

LIVE_HOURS_MOST = 87_600
UNITS = frozenset({1, 60, 3600, 86_400})
Values = Mapping[str, str]


SUBJECTS = {"send_at": "“At”", "expires_at": "The new time to live", "reason": "The reason"}
_TYPED_IN = {"send_at": "at", "expires_at": "live_hours"}


class Unclear(Exception):
    """The form does not say what it has to; the text says to a person what is missing.

    Attributes:
        field: of the form, to which that is told; empty where it is none of them.
    """

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field


def retry(notification_id: UUID, actor: Actor, reason: str, values: Values) -> str:
    """Send again."""
    hours = _number(values.get("live_hours", ""), "The new time to live", "live_hours", most=LIVE_HOURS_MOST)
    expires_at = selectors.database_now() + timedelta(hours=hours) if hours else None
    services.retry(notification_id, actor, reason=reason, expires_at=expires_at)
    return "Retried: it is due now, with all its attempts."


def cancel(notification_id: UUID, actor: Actor, reason: str, values: Values) -> str:
    """Take back."""
    if selectors.one(notification_id, None).status == Status.CANCELLED:
        raise TooLate(Status.CANCELLED)  # the service finds nothing wrong in that, but this did nothing
    services.cancel(notification_id, None, actor, reason=reason)
    return "Cancelled: it is never sent."


def reschedule(notification_id: UUID, actor: Actor, reason: str, values: Values) -> str:
    """Give it another time."""
    at = send_at_of(values, selectors.database_now())
    row = services.reschedule(notification_id, None, actor, send_at=at, reason=reason)
    return format_html("Rescheduled: it is not sent before {}.", instant(row.send_at))


def resolve(notification_id: UUID, actor: Actor, reason: str, values: Values, *, outcome: Status) -> str:
    """Say what became of it."""
    try:
        services.resolve(notification_id, actor, outcome=outcome.value, reason=reason)
    except TooLate as late:
        if late.status == Status.DEAD_LETTERED:
            raise Unclear("It is not held as unconfirmed.") from None
        raise
    return f"Marked as {'sent' if outcome is Status.SENT else 'not delivered'}: it is {outcome} now."


Do = Callable[[UUID, Actor, str, Values], str]
DEEDS: Mapping[Deed, Do] = {
    Deed.RETRY: retry,
    Deed.CANCEL: cancel,
    Deed.RESCHEDULE: reschedule,
    Deed.RESOLVE_SENT: partial(resolve, outcome=Status.SENT),
    Deed.RESOLVE_FAILED: partial(resolve, outcome=Status.FAILED),
}


def view_of(deed: Deed, do: Do) -> Callable[[HttpRequest, UUID], HttpResponse]:
    """The view that the form of an act is posted to."""

    def view(request: HttpRequest, notification_id: UUID) -> HttpResponse:
        page = reverse("admin:notifications_notification_change", args=[notification_id])
        try:
            messages.success(request, _done(request, notification_id, do))
        except (Unclear, NotifyError) as refused:
            refuse(request, page, deed, faults_in(refused, request.POST))
        return redirect(page)

    return view


def actor_of(user: object) -> Actor:
    """Who is logged in, for the record."""
    name = user.get_username() if isinstance(user, AbstractUser) else str(user)
    return Actor(ActorKind.USER, name[:150])


def reason_of(values: Values) -> str:
    """Raises `Unclear` when none is given: an act without one cannot be understood later."""
    reason = values.get("reason", "").strip()
    if not reason:
        raise Unclear("Please give a reason.", "reason")
    return reason


def send_at_of(values: Values, now: datetime) -> datetime:
    """The time that the form of a reschedule asks for. Raises `Unclear` when it does not say one."""
    at, delay = values.get("at", "").strip(), values.get("delay", "").strip()
    if bool(at) == bool(delay):
        raise Unclear("Give either a time or a delay.", "at")
    return _instant(at) if at else now + timedelta(seconds=_delay(delay, values.get("unit", "")))


def in_words(refused: Exception) -> str:
    """What a person is told."""
    match refused:
        case TooLate(may_have_been_sent=True):
            return "An earlier attempt may have been sent, so nobody can promise that any more."
        case TooLate():
            return f"It is {refused.status} by now."
        case ActedMeanwhile():
            return f"Since you opened the page, {refused.actor} has acted on it ({refused.action}): look at it anew."
        case PastExpiry():
            until = instant(refused.expires_at)
            return format_html("Its time to live stands against it: it expires, or has expired, at {}.", until)
        case NotFound():
            return "It is not there any more."
        case InvalidRequest():
            return " ".join(sentence(e, SUBJECTS) for e in refused.errors)
    return f"{refused}"


def faults_in(refused: Exception, values: Values) -> dict[str, str]:
    """What a person is told, by the field of the form that it is about; by no name, of none.

    Args:
        values: what was typed.
    """
    match refused:
        case Unclear():
            return {_field(refused.field, values): f"{refused}"}
        case InvalidRequest():
            return {_field(e.field, values): sentence(e, SUBJECTS) for e in refused.errors}
        case PastExpiry():
            return {_field(refused.field, values): in_words(refused)}
    return {"": in_words(refused)}


def _field(name: str, values: Values) -> str:
    """Where it was typed; a time, perhaps as a delay."""
    typed_in = _TYPED_IN.get(name, name)
    return "delay" if typed_in == "at" and values.get("delay") and not values.get("at") else typed_in


def _done(request: HttpRequest, notification_id: UUID, do: Do) -> str:
    values = {name: request.POST.get(name, "") for name in request.POST}
    reason, seen = reason_of(values), values.get("seen", "")
    if not seen.isascii() or not seen.isdigit() or len(seen) > 18:
        raise Unclear("Please use the form on the page.")
    with services.as_seen(notification_id, int(seen)):
        return do(notification_id, actor_of(request.user), reason, values)


def _instant(text: str) -> datetime:
    """With the offset that console.js sends; without one it is UTC, as the field's label says."""
    try:
        at = datetime.fromisoformat(text)
        return utc(at if at.tzinfo else at.replace(tzinfo=UTC))
    except ValueError:
        raise Unclear("“At” must be a date and a time, such as 2030-01-31 08:00.", "at") from None


def _delay(text: str, unit: str) -> float:
    seconds = int(unit) if unit.isascii() and unit.isdigit() else 0
    if seconds not in UNITS:
        raise Unclear("Choose the unit of the delay.", "unit")
    return _number(text, "The delay", "delay", most=366 * 86_400 / seconds) * seconds


def _number(text: str, what: str, field: str, *, most: float) -> float:
    """0 when the field is empty."""
    try:
        value = float(text or 0)
    except ValueError:
        raise Unclear(f"{what} must be a number.", field) from None
    if not 0 <= value <= most:  # also what is no number at all
        raise Unclear(f"{what} must be a number from 0 to {most:g}.", field)
    return value


for _deed, _do in DEEDS.items():
    add_page(
        Page(
            path=f"notifications/notification/<uuid:notification_id>/{_deed}/",
            name=f"notification-{_deed}",
            view=view_of(_deed, _do),
            permission=OPERATE,
            methods=("POST",),
        )
    )
