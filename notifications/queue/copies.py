"""The in-app copies of pushes: the IN_APP notifications of the same group.

Whoever gets a push and opens the app has to find the entry there. So before a push is settled its copy is delivered,
unless it is final already: whether it waits, for whatever time, or is held by a worker, it becomes SENT here and now,
once. A copy that was cancelled or has outlived its time stays so, and what is paused waits for the end of the pause.

Taking a copy from the worker that holds it is safe because the inbox sends nothing before a settle: its lease protects
the row alone, and the other worker's settle is stale then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

from django.db import OperationalError, connection
from django.db.models import Case, CharField, F, Q, Value, When
from django.db.models.functions import Cast, Now
from psycopg.errors import LockNotAvailable

from notifications import metrics
from notifications.channel import INBOX, Channel
from notifications.models import Attempt, Notification
from notifications.queue.inbox import write_entries
from notifications.queue.outcomes import announce
from notifications.queue.pauses import pauses_in_force
from notifications.status import Status
from notifications.verdict import Outcome
from notifyq.leasing import in_any_transaction

WAIT_SECONDS = 1.0
"""For a copy that somebody else is changing."""

_UNDELIVERED = Q(status__in=(Status.PENDING, Status.PROCESSING)) & (
    Q(expires_at__isnull=True) | Q(expires_at__gt=Now())
)


@dataclass(frozen=True, slots=True)
class _Copy:
    id: UUID
    group_id: UUID
    client_id: UUID


def deliver_copies(group_ids: Collection[UUID], *, worker_id: str) -> set[UUID]:
    """Deliver what is undelivered of the in-app copies in these groups.

    Args:
        worker_id: who does it, for the history.

    Returns:
        The groups that have a copy which is SENT now, or is still going to be: when a pause ends, or whoever is
        changing it lets it. Safe to repeat, and with any number of callers at once.

    Transaction: one for those that nobody else is changing at the moment, then one for each of the others, which waits
    for them a little. Locks: of notifications, never more than one while waiting for another, so it stands in no
    circle. Index: `notification_group`.
    """
    free = _not_paused(_copies(group_ids, _UNDELIVERED))
    if free:
        _deliver([copy.id for copy in free], worker_id)
        _deliver_held([copy for copy in _copies(group_ids, _UNDELIVERED) if copy in free], worker_id)
    return {copy.group_id for copy in _copies(group_ids, _UNDELIVERED | Q(status=Status.SENT))}


def _copies(group_ids: Collection[UUID], condition: Q) -> list[_Copy]:
    rows = Notification.objects.filter(condition, group_id__any=group_ids, channel=Channel.IN_APP)
    found = rows.values_list("pk", "group_id", "client_id")
    return [_Copy(pk, group_id, client_id) for pk, group_id, client_id in found if group_id is not None]


def _not_paused(copies: Sequence[_Copy]) -> list[_Copy]:
    if not copies:
        return []
    keeping = partial(pauses_in_force().keeping, channel=Channel.IN_APP, providers=(INBOX,))
    return [copy for copy in copies if not keeping(client_id=copy.client_id)]


def _deliver_held(copies: Sequence[_Copy], worker_id: str) -> None:
    """Those that somebody is changing: nearly always for a moment. But a producer may have cancelled one in a
    transaction of its own, and no verdict waits for that: the copy then counts by what is committed."""
    for copy in copies:
        try:
            _deliver([copy.id], worker_id, wait=True)
        except OperationalError as error:
            if isinstance(error.__cause__, LockNotAvailable):
                return
            raise


def _deliver(ids: Sequence[UUID], worker_id: str, *, wait: bool = False) -> None:
    """Args: wait: for whoever is changing one of them; otherwise such a one is passed over."""
    rows = Notification.objects.filter(_UNDELIVERED, id__any=ids).order_by("pk")
    columns = ("pk", "status", "attempt_count", "max_attempts", "operator_retry_count", "claim_token")
    with in_any_transaction():
        _wait_at_most(WAIT_SECONDS)
        held = list(rows.select_for_update(no_key=True, skip_locked=not wait).values_list(*columns))
        _wait_at_most(0)
        if not held:
            return
        delivered = [row[0] for row in held]
        _end(delivered)
        Attempt.objects.bulk_create([_attempt(row, worker_id) for row in held])
        write_entries(delivered)
        announce(delivered)
    metrics.record_finished({(Status.SENT, Channel.IN_APP): len(delivered)})


def _wait_at_most(seconds: float) -> None:
    """For a lock, until the transaction ends; 0 for as long as a statement may take."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [str(int(seconds * 1000))])


def _end(ids: Sequence[UUID]) -> None:
    """One that was claimed is counted already; so is the one send beyond the last."""
    counted = Case(When(status=Status.PENDING, attempt_count__lt=F("max_attempts"), then=Value(1)), default=Value(0))
    Notification.objects.filter(id__any=ids).update(
        status=Status.SENT,
        waiting_reason="",
        attempt_count=F("attempt_count") + counted,
        claim_token=None,
        worker_id="",
        lease_expires_at=None,
        sending_provider="",
        send_started_at=None,
        parked_by=None,
        suspect=False,
        final_check=False,
        provider=INBOX,
        last_used_provider=INBOX,
        provider_message_id=Cast("id", CharField()),
        last_error_code="",
        last_error_message="",
        outcome_sequence=F("outcome_sequence") + 1,
        finished_at=Now(),
        updated_at=Now(),
    )


def _attempt(row: tuple[UUID, str, int, int, int, UUID | None], worker_id: str) -> Attempt:
    identity, status, count, most, retries, token = row
    return Attempt(
        notification_id=identity,
        cycle=retries + 1,
        number=min(count + 1, most) if status == Status.PENDING else count,
        hop=1,
        provider=INBOX,
        outcome=Outcome.ACCEPTED,
        provider_message_id=str(identity),
        started_at=Now(),
        finished_at=Now(),
        worker_id=worker_id,
        claim_token=token or uuid4(),
    )
