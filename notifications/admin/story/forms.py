"""The forms of the acts that are legal now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.urls import reverse

from notifications.models import Notification
from notifications.story.acts import REASON, Deed, Field, Form, legal

EXPIRY_HOURS = Field(
    name="live_hours",
    label="New time to live, in hours",
    kind="number",
    is_required=True,
    help="Its own is over.",
)
AT = Field(name="at", label="At (UTC)", kind="datetime-local", help="A time in the past means now.")
DELAY = Field(name="delay", label="or in", kind="number")
UNIT = Field(
    name="unit",
    label="unit",
    kind="select",
    options=(("60", "minutes"), ("3600", "hours"), ("86400", "days"), ("1", "seconds")),
)


def legal_deeds(row: Notification) -> tuple[Deed, ...]:
    """What may be done to it now."""
    return legal(row.status, unconfirmed_provider=row.unconfirmed_provider, error_code=row.last_error_code)


def forms_for(row: Notification, last_act_id: int, now: datetime) -> list[Form]:
    """A form for each."""
    return [_FORMS[deed](row, str(last_act_id), now) for deed in legal_deeds(row)]


def address_of(deed: Deed, row: Notification) -> str:
    """Where its form is posted to."""
    return reverse(f"admin:notification-{deed}", args=[row.pk])


def _retry(row: Notification, seen: str, now: datetime) -> Form:
    in_doubt = Deed.RESOLVE_SENT in legal_deeds(row)
    is_over = row.expires_at is not None and row.expires_at <= now
    doubt = (
        "It may have been sent already. The retry goes to the same provider; if that does not drop repeats, the "
        "recipient may get it twice. If you know what became of it, mark it as sent or as not delivered instead."
    )
    return Form(
        name=Deed.RETRY,
        address=address_of(Deed.RETRY, row),
        title="Retry",
        note=doubt if in_doubt else "It is sent again at once, with all its attempts.",
        verb="Retry",
        seen=seen,
        fields=(EXPIRY_HOURS, REASON) if is_over else (REASON,),
    )


def _resolve_sent(row: Notification, seen: str, now: datetime) -> Form:
    return Form(
        name=Deed.RESOLVE_SENT,
        address=address_of(Deed.RESOLVE_SENT, row),
        title="Mark as sent",
        note="It becomes SENT for good, and is not sent again. Say how you know, such as the provider's own log.",
        verb="Mark as sent",
        seen=seen,
    )


def _resolve_failed(row: Notification, seen: str, now: datetime) -> Form:
    return Form(
        name=Deed.RESOLVE_FAILED,
        address=address_of(Deed.RESOLVE_FAILED, row),
        title="Mark as not delivered",
        note="It becomes FAILED, and can then be retried without the risk of a second copy.",
        verb="Mark as not delivered",
        seen=seen,
    )


def _reschedule(row: Notification, seen: str, now: datetime) -> Form:
    return Form(
        name=Deed.RESCHEDULE,
        address=address_of(Deed.RESCHEDULE, row),
        title="Reschedule",
        note="It is not sent before the new time. Its attempts and its time of expiry stay as they are.",
        verb="Reschedule",
        seen=seen,
        fields=(AT, DELAY, UNIT, REASON),
    )


def _cancel(row: Notification, seen: str, now: datetime) -> Form:
    return Form(
        name=Deed.CANCEL,
        address=address_of(Deed.CANCEL, row),
        title="Cancel",
        note="It is never sent. This cannot be undone.",
        verb="Cancel this notification",
        seen=seen,
    )


_FORMS: dict[Deed, Callable[[Notification, str, datetime], Form]] = {
    Deed.RETRY: _retry,
    Deed.RESOLVE_SENT: _resolve_sent,
    Deed.RESOLVE_FAILED: _resolve_failed,
    Deed.RESCHEDULE: _reschedule,
    Deed.CANCEL: _cancel,
}
