"""Taking back what a dead worker held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from notifications.channel import Channel
from notifications.models import Notification
from notifications.outcome import Standing, after_loss
from notifications.providers.base import Lookup
from notifications.queue.settle import AttemptRecord, Ending, settle
from notifications.queue.standing import STANDING_COLUMNS, standing_of
from notifications.status import Status
from notifications.verdict import Outcome
from notifyq.leasing import SecondsSince, in_transaction_bounded, lock
from notifyq.runtime.wakeup import notify_after_commit

LIMIT = 500


@dataclass(frozen=True, slots=True)
class Safety:
    """What is known of a provider when nobody is left to ask about a send.

    Attributes:
        provider: its name.
        records_start: its sends are recorded before they begin, so an unrecorded one certainly did not happen.
        repeat_window_seconds: how long a repeat under our key does no harm there; None when it may at any time.
        lookup: how it can be asked what became of a send; None when it cannot.
    """

    provider: str
    records_start: bool
    repeat_window_seconds: float | None
    lookup: Lookup | None = None

    def may_send_again(self, unconfirmed_age_seconds: float) -> bool:
        return self.repeat_window_seconds is not None and unconfirmed_age_seconds < self.repeat_window_seconds

    def ask_wait_seconds(self, unconfirmed_age_seconds: float) -> float | None:
        return None if self.lookup is None else self.lookup.wait_seconds(unconfirmed_age_seconds)


SafetyOf = Callable[[Channel, str, str], Safety]
"""(channel, recipient, provider name or empty) → what is known of the provider. Empty asks for the first that serves
the recipient: the one that a send without a record must have gone to."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """One notification that was taken back, and where it went."""

    ending: Ending
    channel: Channel


_COLUMNS = (
    "id",
    "claim_token",
    "worker_id",
    "channel",
    "recipient",
    *STANDING_COLUMNS,
    "sending_provider",
    "unconfirmed_age",
)


def rescue(safety: SafetyOf, *, worker_ids: Sequence[str] | None = None, limit: int = LIMIT) -> list[Rescued]:
    """Take back notifications whose lease has expired, or that the named workers held when they died.

    A row in its lease whose worker lives is left alone, however long its send takes.

    Args:
        safety: see `SafetyOf`.
        worker_ids: processes that are known to be dead; None goes by the lease.
        limit: bound on one pass; call again at once when that many came back.

    Returns:
        What was taken back. Safe with any number of callers at once, and safe to repeat.

    Transaction: one short one. Index: `notification_lease`. Locks: the rows, passing over locked ones.
    """
    with in_transaction_bounded():
        lost = lock(_lost(worker_ids).annotate(unconfirmed_age=SecondsSince("unconfirmed_at")), _COLUMNS, limit)
        rescued = [_rescued(dict(zip(_COLUMNS, row, strict=True)), safety) for row in lost]
        applied = settle([r.ending for r in rescued], by="rescue")
        if applied:
            notify_after_commit()
    done = {ending.id for ending in applied}
    return [r for r in rescued if r.ending.id in done]


def _lost(worker_ids: Sequence[str] | None) -> QuerySet[Notification]:
    held = Notification.objects.filter(status=Status.PROCESSING, lease_expires_at__isnull=False)
    if worker_ids is None:
        return held.filter(lease_expires_at__lte=Now()).order_by("lease_expires_at")
    return held.filter(worker_id__in=list(worker_ids)).order_by("lease_expires_at")


def _rescued(row: Mapping[str, Any], safety: SafetyOf) -> Rescued:
    channel = Channel(row["channel"])
    standing = standing_of(row, row["attempt_count"] + (1 if row["final_check"] else 0))
    known = safety(channel, row["recipient"], row["sending_provider"] or row["unconfirmed_provider"])
    begun = bool(row["sending_provider"]) or not known.records_start
    age_seconds = row["unconfirmed_age"] or 0.0
    decision = after_loss(
        standing,
        provider=known.provider,
        begun=begun,
        may_send_again=known.may_send_again(age_seconds),
        ask_wait_seconds=known.ask_wait_seconds(age_seconds),
    )
    attempts = (_lost_attempt(row, standing, known.provider, decision.error_message),) if begun else ()
    return Rescued(Ending(row["id"], row["claim_token"], decision, attempts), channel)


def _lost_attempt(row: Mapping[str, Any], standing: Standing, provider: str, message: str) -> AttemptRecord:
    return AttemptRecord(
        cycle=row["operator_retry_count"] + 1,
        number=standing.attempt_number,
        hop=1,
        provider=provider,
        outcome=Outcome.LOST,
        error_code="lost",
        error_message=message,
        provider_message_id="",
        started_ago_seconds=None,
        finished_ago_seconds=0.0,
        worker_id=row["worker_id"],
    )
