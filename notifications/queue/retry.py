"""An operator's retry: what ended undelivered gets a new budget of attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from notifications.channel import Channel
from notifications.models import Action, Notification
from notifications.outcome import UNCONFIRMED
from notifications.queue.acts import Act, record
from notifications.status import Status
from notifyq.leasing import in_transaction_bounded, lock
from notifyq.runtime.wakeup import ring_after_commit

RETRYABLE = (Status.FAILED, Status.DEAD_LETTERED)
BATCH = 200
"""How many rows one transaction takes back: short enough that nobody waits long for one of them."""
COUNTED_MOST = 10_000
"""How far a selection is counted."""

MAY_HAVE_BEEN_SENT = Q(last_error_code=UNCONFIRMED) | ~Q(unconfirmed_provider="")
IN_TIME = Q(expires_at__isnull=True) | Q(expires_at__gt=Now())


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which undelivered notifications are meant; None means any.

    Those that may have been sent are only meant when `error_code` asks for theirs: a retry could be a second copy.

    Attributes:
        provider: the one of the last attempt.
        finished_after, finished_before: inclusive and exclusive, so that neighbouring windows neither overlap nor gap.
    """

    finished_before: datetime
    status: Status = Status.DEAD_LETTERED
    channel: Channel | None = None
    provider: str | None = None
    error_code: str | None = None
    finished_after: datetime | None = None


def retry(notification_id: UUID, act: Act, *, expires_at: datetime | None = None) -> bool:
    """FAILED or DEAD_LETTERED → PENDING, due now, with all its attempts again; recorded.

    Where an earlier attempt may have been sent, its provider stays on record: the workers go there again as long as
    it drops repeats, see `notifications.delivery.routing`.

    Args:
        expires_at: its new time of expiry; without one, a notification past its own is left alone.

    Returns:
        Whether this call did it: of several at once only one does.

    Transaction: the caller's, or one of its own. Locks: the row; waits for whoever else is changing it.
    """
    rows = Notification.objects.filter(pk=notification_id, status__in=RETRYABLE)
    if expires_at is None:
        rows = rows.filter(IN_TIME)
    with transaction.atomic():
        before = list(rows.select_for_update(no_key=True).values_list("pk", "status"))
        take_back(before, act, {} if expires_at is None else {"expires_at": expires_at})
    return bool(before)


def retry_many(selection: Selection, act: Act, limit: int) -> int:
    """The same for up to `limit` of a selection, the longest finished first, passing over what others hold.

    Returns:
        How many. Safe with any number of callers at once: each notification is taken back by one of them.

    Transaction: one short one per batch. Index: `notification_undelivered`, whose key is the order.
    """
    done = 0
    while done < limit:
        asked = min(BATCH, limit - done)
        with in_transaction_bounded():
            before = lock(retryable(selection), ("id", "status"), asked)
            take_back(before, act, {})
        done += len(before)
        if len(before) < asked:
            break
    return done


def count_retryable(selection: Selection) -> tuple[int, int]:
    """How many of the selection could be retried, and how many could only with a new time of expiry; each counted up
    to COUNTED_MOST."""
    with in_transaction_bounded():
        return retryable(selection)[:COUNTED_MOST].count(), _selected(selection).exclude(IN_TIME)[:COUNTED_MOST].count()


def retryable(selection: Selection) -> QuerySet[Notification]:
    """Those of the selection that are not past their time to live, the longest finished first."""
    return _selected(selection).filter(IN_TIME).order_by("finished_at", "id")


def _selected(selection: Selection) -> QuerySet[Notification]:
    conditions = {
        "status": selection.status,
        "finished_at__lt": selection.finished_before,
        "finished_at__gte": selection.finished_after,
        "channel": selection.channel,
        "last_used_provider": selection.provider,
        "last_error_code": selection.error_code,
    }
    rows = Notification.objects.filter(**{name: value for name, value in conditions.items() if value is not None})
    return rows if selection.error_code is not None else rows.exclude(MAY_HAVE_BEEN_SENT)


def take_back(before: Sequence[tuple[UUID, str]], act: Act, changes: dict[str, object]) -> None:
    """Args: before: (id, status) of RETRYABLE rows locked in the present transaction."""
    if not before:
        return
    Notification.objects.filter(id__any=[identity for identity, _ in before], status__in=RETRYABLE).update(
        status=Status.PENDING,
        due_at=Now(),
        attempt_count=0,
        operator_retry_count=F("operator_retry_count") + 1,
        suspect=False,
        final_check=False,
        promoted=False,
        finished_at=None,
        updated_at=Now(),
        **changes,
    )
    record(Action.RETRY, act, before)
    ring_after_commit()
