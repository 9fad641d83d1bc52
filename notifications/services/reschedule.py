"""Give a waiting notification another time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from notifications import queue, selectors
from notifications.errors import InvalidRequest, PastExpiry, TooLate, shown_name
from notifications.models import Action, Client, Notification
from notifications.queue import Actor
from notifications.request.fields import Fields
from notifications.request.times import Schedule, read_timing, resolve
from notifications.services.acts import TRIES, act_of, log_act, read_reason
from notifications.services.cancel import refuse_when_decided
from notifications.status import Status

NOT_BEFORE_EXPIRY = "must be before the time of expiry of this notification"
_PAIR = ("send_at", "delay_seconds")


def reschedule(
    notification_id: UUID,
    client: Client | None,
    actor: Actor | None = None,
    *,
    send_at: datetime | str | None = None,
    delay_seconds: float | None = None,
    reason: object = None,
) -> Notification:
    """Give a PENDING notification a new send time. When this returns, it is not sent before that.

    Its attempts and its time of expiry stay as they are; what it waited for before (a retry, a rate limit) no longer
    counts, but limits are looked at anew when the time comes.

    Args:
        client: whose it must be; None for an operator, who may reschedule anybody's.
        actor: the operator, for the record; None for a client.
        send_at: aware, or RFC 3339 text; a past one means now. Either this or the next.
        reason: the operator's, for the record.

    Raises:
        InvalidRequest: not exactly one of the two, or not a time; or the reason is too long.
        NotFound: no such notification, or another client's.
        TooLate: it has left PENDING, or an earlier attempt may have been sent: a repeat of that one is only safe as
            long as its provider drops repeats, so it must not be put off.
        PastExpiry: the new time is not before its expiry.

    Transaction: one conditional update. Locks: waits for a worker that is about to claim the same row.
    """
    given = {"send_at": send_at, "delay_seconds": delay_seconds}
    schedule, told = _read(given, reason)
    act = act_of(actor, told)
    for _ in range(TRIES):
        present = selectors.one(notification_id, client)
        refuse_when_decided(present)
        _refuse_past_expiry(present, schedule, given)
        later = schedule.send_at > schedule.now
        if queue.reschedule(notification_id, schedule.send_at, later=later, act=act):
            log_act(Action.RESCHEDULE, actor, notification_id=notification_id)
            return selectors.one(notification_id, client)
        # It was claimed between the look and the update; it may be back by now.
    raise TooLate(Status.PROCESSING)


def _read(given: Mapping[str, object], reason: object) -> tuple[Schedule, str]:
    fields = Fields({**given, "reason": reason})
    told = read_reason(fields)
    timing = read_timing(fields)
    if not fields.errors and not any(fields.given(name) for name in _PAIR):
        for name, other in zip(_PAIR, reversed(_PAIR), strict=True):
            fields.wrong(name, "one_of", f"must be given, or {shown_name(other)}")
    schedule, clock_errors = resolve(timing, selectors.database_now())
    if fields.errors or clock_errors:
        raise InvalidRequest([*fields.errors, *clock_errors])
    return schedule, told


def _refuse_past_expiry(present: Notification, schedule: Schedule, given: Mapping[str, object]) -> None:
    if present.expires_at is not None and present.expires_at <= schedule.send_at:
        field = next(name for name in _PAIR if given[name] is not None)
        raise PastExpiry(field, NOT_BEFORE_EXPIRY, present.expires_at)
