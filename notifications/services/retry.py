"""Give what ended undelivered another chance. Only operators do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from notifications import queue, selectors
from notifications.channel import Channel
from notifications.errors import InvalidRequest, PastExpiry, TooLate
from notifications.models import Action, Notification
from notifications.providers.instance_names import NAME_LENGTH_MOST
from notifications.queue import RETRYABLE, Act, Actor, Selection
from notifications.request.fields import LABEL_MAX_LENGTH, Fields
from notifications.request.times import read_instant
from notifications.services.acts import TRIES, log_act, read_reason
from notifications.status import Status

EXPIRY_NEEDED = "is needed: the time to live of this notification is over"
LIMIT_MOST = 1000


@dataclass(frozen=True, slots=True)
class RetriedMany:
    """What came of a retry of many.

    Attributes:
        retried_count: taken back by this call; in a dry run, that would be.
        skipped_count: of the selection, past their time to live; each needs a retry of its own with a new one.
        remaining_count: of the selection, not taken back yet. These two are counted up to 10,000.
        cutoff: what finished at or after it was not looked at. Given as `finished_before` of the next call, it leaves
            out what was retried and has failed again since, so that a series of calls ends.
    """

    retried_count: int
    skipped_count: int
    remaining_count: int
    cutoff: datetime


def retry(
    notification_id: UUID,
    actor: Actor,
    *,
    reason: object = None,
    expires_at: datetime | str | None = None,
) -> Notification:
    """Take a FAILED or DEAD_LETTERED notification back to PENDING, due now, with all its attempts again.

    Of several calls at once one has an effect; the others are told that it is too late. One that failed again can be
    retried again. Where an earlier attempt may have been sent, this can lead to a second copy, unless its provider
    still drops repeats.

    Args:
        expires_at: a new time of expiry; needed when its own has passed.

    Raises:
        InvalidRequest: the reason is too long, or `expires_at` is no time in the future.
        NotFound: no such notification.
        TooLate: it is in another state.
        PastExpiry: its time of expiry has passed, and no new one was given.

    Transaction: one, with the record of the act.
    """
    fields = Fields({"reason": reason, "expires_at": expires_at})
    act, expiry = Act(actor, read_reason(fields), _details(expires_at)), _read_expiry(fields)
    if fields.errors:
        raise InvalidRequest(fields.errors)
    for _ in range(TRIES):
        present = selectors.one(notification_id, None)
        if present.status not in RETRYABLE:
            raise TooLate(present.status)
        if queue.retry(notification_id, act, expires_at=expiry):
            log_act(Action.RETRY, actor, notification_id=notification_id)
            return selectors.one(notification_id, None)
        _refuse_when_expired(present, expiry)
    raise TooLate(present.status)


def retry_many(
    actor: Actor,
    *,
    status: object = None,
    channel: object = None,
    provider: object = None,
    error_code: object = None,
    finished_after: object = None,
    finished_before: object = None,
    limit: object = None,
    dry_run: object = None,
    reason: object = None,
) -> RetriedMany:
    """Take many back, the longest finished first. Those that may have been sent only when `error_code` names theirs.

    The values are checked here whatever their type. Safe with several operators at once: each notification is retried
    once.

    Args:
        status: FAILED or DEAD_LETTERED, which is also what None means.
        provider: the one of the last attempt.
        finished_after, finished_before: inclusive and exclusive.
        limit: from 1 to 1000; None means 1000.
        dry_run: change nothing, and tell what would be done.

    Raises:
        InvalidRequest: with all that is wrong.

    Transaction: a short one for each 200.
    """
    fields = Fields({name: value for name, value in locals().items() if name != "actor"})
    now = selectors.database_now()
    selection = _read_selection(fields, now)
    asked = fields.whole("limit", least=1, most=LIMIT_MOST) or LIMIT_MOST
    dry, text = fields.flag("dry_run"), read_reason(fields)
    if fields.errors:
        raise InvalidRequest(fields.errors)
    if dry:
        could_be, skipped = queue.count_retryable(selection)
        return RetriedMany(min(asked, could_be), skipped, max(0, could_be - asked), selection.finished_before)
    retried = queue.retry_many(selection, Act(actor, text, {"many": True}), asked)
    log_act(Action.RETRY, actor, count=retried)
    remaining, skipped = queue.count_retryable(selection)
    return RetriedMany(retried, skipped, remaining, selection.finished_before)


def _read_expiry(fields: Fields) -> datetime | None:
    expiry = read_instant(fields, "expires_at")
    if expiry is not None and expiry <= selectors.database_now():
        fields.wrong("expires_at", "not_in_the_future", "must be in the future")
    return expiry


def _details(expires_at: datetime | str | None) -> dict[str, object]:
    return {} if expires_at is None else {"expiresAt": str(expires_at)[:64]}


def _refuse_when_expired(present: Notification, expiry: datetime | None) -> None:
    expired = present.expires_at is not None and present.expires_at <= selectors.database_now()
    if expiry is None and expired:
        raise PastExpiry("expires_at", EXPIRY_NEEDED, present.expires_at)


def _read_selection(fields: Fields, now: datetime) -> Selection:
    status = fields.option("status", [s.value for s in RETRYABLE])
    channel = fields.option("channel", Channel.__members__)
    before = read_instant(fields, "finished_before")
    return Selection(
        status=Status(status) if status else Status.DEAD_LETTERED,
        channel=Channel[channel] if channel else None,
        provider=fields.text("provider", max_length=NAME_LENGTH_MOST),
        error_code=fields.text("error_code", max_length=LABEL_MAX_LENGTH),
        finished_after=read_instant(fields, "finished_after"),
        finished_before=min(before, now) if before else now,
    )
