"""Ending leases with a verdict, or giving them back."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from notifications.channel import INBOX
from notifications.models import Attempt, Notification
from notifications.outcome import Decision, proved
from notifications.push_target import lost_its_device, told_by_its_copy
from notifications.queue.admission import give_back_slots
from notifications.queue.asked import ASKED, LookUpRecord, asked_of, plain_record, sends_in_doubt
from notifications.queue.copies import deliver_copies
from notifications.queue.credit import waiting_proofs
from notifications.queue.inbox import write_entries
from notifications.queue.outcomes import announce
from notifications.status import Status, allowed
from notifications.verdict import ERROR_CODE_MAX_LENGTH, Outcome
from notifyq.leasing import Arrays, Follower, end_leases, in_any_transaction, write_all

log = logging.getLogger(__name__)
Record = TypeVar("Record", Decision, "AttemptRecord")


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One call to one provider, as it goes into the history.

    Attributes:
        started_ago_seconds, finished_ago_seconds: before the settling statement, so that all times in the history
            are the database's; `started_ago_seconds` is None when nobody knows.
    """

    cycle: int
    number: int
    hop: int
    provider: str
    outcome: Outcome
    error_code: str
    error_message: str
    provider_message_id: str
    started_ago_seconds: float | None
    finished_ago_seconds: float
    worker_id: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of one lease: where the notification goes, and what was done under the lease.

    Attributes:
        attempts: the calls that were made.
        asked: for one held to be asked about (RECONCILING, not PROCESSING): what its provider said.
        push_group: the group of a PUSH, which may have an in-app copy in it; None for whatever else.
    """

    id: UUID
    token: UUID
    decision: Decision
    attempts: tuple[AttemptRecord, ...] = ()
    asked: LookUpRecord | None = None
    push_group: UUID | None = None

    @property
    def held_status(self) -> Status:
        return Status.PROCESSING if self.asked is None else Status.RECONCILING


_ENDING = {
    "id": "uuid",
    "token": "uuid",
    "held_status": "text",
    "status": "text",
    "waiting_reason": "text",
    "wait_seconds": "float8",
    "refund": "int2",
    "is_final": "bool",
    "error_code": "text",
    "error_message": "text",
    "provider": "text",
    "last_used_provider": "text",
    "provider_message_id": "text",
    "unconfirmed_provider": "text",
    "suspect": "bool",
    "final_check": "bool",
}
_SETTLE = {
    "status": "v.status",
    "waiting_reason": "v.waiting_reason",
    "due_at": "COALESCE(now() + v.wait_seconds * interval '1 second', n.due_at)",
    "attempt_count": "n.attempt_count - v.refund",
    "finished_at": "CASE WHEN v.is_final THEN now() END",
    "outcome_sequence": "n.outcome_sequence + v.is_final::int",
    "updated_at": "now()",
    "last_error_code": "v.error_code",
    "last_error_message": "v.error_message",
    "provider": "v.provider",
    "last_used_provider": "COALESCE(v.last_used_provider, n.last_used_provider)",
    "provider_message_id": "v.provider_message_id",
    "unconfirmed_provider": "v.unconfirmed_provider",
    # Not later than the send: a look-up has to find it, and the vendor's own windows begin with it.
    "unconfirmed_at": "CASE WHEN v.unconfirmed_provider <> '' "
    "THEN COALESCE(n.unconfirmed_at, n.send_started_at, n.updated_at) END",
    "suspect": "v.suspect",
    "final_check": "v.final_check",
    "sending_provider": "''",
    "send_started_at": "NULL",
    "look_up_count": "0",
}
# What is given back keeps what an earlier attempt said of it.
_RELEASE = {
    "status": "v.status",
    "waiting_reason": "v.waiting_reason",
    "due_at": "COALESCE(now() + v.wait_seconds * interval '1 second', n.due_at)",
    "attempt_count": "n.attempt_count - v.refund",
    "updated_at": "now()",
    "sending_provider": "''",
    "send_started_at": "NULL",
}

_ATTEMPT = {
    "id": "uuid",
    "token": "uuid",
    "cycle": "int2",
    "number": "int2",
    "hop": "int2",
    "provider": "text",
    "outcome": "text",
    "error_code": "text",
    "error_message": "text",
    "provider_message_id": "text",
    "started_ago": "float8",
    "finished_ago": "float8",
    "worker_id": "text",
}
_ATTEMPT_INTO = {
    "notification_id": "f.id",
    "claim_token": "f.token",
    "cycle": "f.cycle",
    "number": "f.number",
    "hop": "f.hop",
    "provider": "f.provider",
    "outcome": "f.outcome",
    "error_code": "f.error_code",
    "error_message": "f.error_message",
    "provider_message_id": "f.provider_message_id",
    "started_at": "now() - f.started_ago * interval '1 second'",
    "finished_at": "now() - f.finished_ago * interval '1 second'",
    "worker_id": "f.worker_id",
}


def settle(endings: Sequence[Ending], *, by: str = "settle") -> list[Ending]:
    """Write the outcomes of many leases: state and history of each commit together or not at all.

    Args:
        endings: of leases held by whoever calls; one that is stale changes nothing and leaves no history.
        by: who makes the move, for the check against the table of transitions.

    Returns:
        Those that applied, as they were written: what a receipt has proved meanwhile is SENT, and so is a push without
        a device where its in-app copy is there. A repeat of the same endings returns none.

    Raises:
        DatabaseError: the database is away. Some parts of the batch may be written; a repeat is safe.

    Transaction: one per batch (more where a value is refused and the batch is halved, and one more for pushes that may
    have an in-app copy, after those of the copies).
    """
    for ending in endings:
        if not allowed(ending.held_status, ending.decision.status, by=by):
            raise ValueError(f"{by} may not move one from {ending.held_status} to {ending.decision.status}")
    endings = _with_proofs(endings)
    pushes = [ending for ending in endings if ending.push_group is not None]
    others = [ending for ending in endings if ending.push_group is None]
    applied = write_all(others, _settle_together, _settle_plain)
    if pushes:  # after the others, among which their copies may be
        applied += write_all(_after_their_copies(pushes), _settle_together, _settle_plain)
    return applied


def _with_proofs(endings: Sequence[Ending]) -> Sequence[Ending]:
    """Where the answer was lost, a receipt may have come meanwhile: then it is SENT. Asks only where there is doubt."""
    proofs = waiting_proofs({e.id: e.decision.unconfirmed_provider for e in endings if e.decision.unconfirmed_provider})
    if not proofs:
        return endings
    return [dataclasses.replace(e, decision=proved(e.decision, proofs[e.id])) if e.id in proofs else e for e in endings]


def release(endings: Sequence[Ending]) -> int:
    """Give unstarted notifications back to the queue, uncounted: at their old place in the order, or, where no provider
    can take them now, for later.

    Args:
        endings: their decisions come from `outcome.given_back` or `outcome.unavailable`.

    Returns:
        How many were still held. Safe to repeat.

    Transaction: one.
    """
    names = ("id", "token", "held_status", "status", "waiting_reason", "wait_seconds", "refund")
    columns = {name: _ENDING[name] for name in names}
    whole = [dict(zip(_ENDING, _ending_row(e), strict=True)) for e in endings]
    rows = [tuple(row[name] for name in names) for row in whole]
    with in_any_transaction():
        ended = end_leases(Notification, _RELEASE, Arrays(columns, rows))
        give_back_slots(ended)
    return len(ended)


def _after_their_copies(pushes: Sequence[Ending]) -> list[Ending]:
    """Deliver the in-app copies of those that may have reached a device, or certainly found none."""
    concerned = [e for e in pushes if not e.decision.not_sent or lost_its_device(e.decision)]
    groups = {e.push_group for e in concerned if e.push_group is not None}
    worker_id = next((e.attempts[-1].worker_id for e in concerned if e.attempts), "")
    told = deliver_copies(groups, worker_id=worker_id) if groups else set()
    return [
        dataclasses.replace(e, decision=told_by_its_copy(e.decision))
        if e.push_group in told and lost_its_device(e.decision)
        else e
        for e in pushes
    ]


def _settle_together(endings: Sequence[Ending]) -> list[Ending]:
    history = Follower(
        Attempt._meta.db_table, _ATTEMPT_INTO, Arrays(_ATTEMPT, [row for e in endings for row in _attempt_rows(e)])
    )
    asked = asked_of(endings)
    changes, followers = (_SETTLE | ASKED, [history, asked]) if asked else (_SETTLE, [history])
    with in_any_transaction():
        held = set(end_leases(Notification, changes, Arrays(_ENDING, [_ending_row(e) for e in endings]), followers))
        applied = [e for e in endings if (e.id, e.token) in held]
        write_entries([e.id for e in applied if _goes_to_inbox(e.decision)])
        announce([e.id for e in applied if e.decision.is_final])
        not_sent = [e for e in applied if e.decision.not_sent]
        give_back_slots(sends_in_doubt(not_sent) if asked else [(e.id, e.token) for e in not_sent])
    return applied


def _goes_to_inbox(decision: Decision) -> bool:
    return decision.status is Status.SENT and decision.provider == INBOX


def _settle_plain(ending: Ending, error: Exception) -> list[Ending]:
    """The database refuses a value, which can only be a text from outside: the state matters more than the text."""
    log.error("settle_refused", extra={"notification_id": str(ending.id), "error": type(error).__name__})
    attempts = tuple(_plain(attempt) for attempt in ending.attempts)
    plain = dataclasses.replace(ending, decision=_plain(ending.decision), attempts=attempts)
    return _settle_together([dataclasses.replace(plain, asked=plain_record(ending.asked))])


def _plain(record: Record) -> Record:
    """Without what a vendor may have written into it; our own codes stay."""
    code = record.error_code
    storable = code.isascii() and code.isprintable() and len(code) <= ERROR_CODE_MAX_LENGTH
    return dataclasses.replace(
        record, error_code=code if storable else "unreadable", error_message="", provider_message_id=""
    )


def _ending_row(ending: Ending) -> tuple[object, ...]:
    decision = ending.decision
    return (
        ending.id,
        ending.token,
        ending.held_status,
        decision.status,
        decision.waiting_reason or "",
        decision.wait_seconds,
        decision.refund,
        decision.is_final,
        decision.error_code,
        decision.error_message,
        decision.provider,
        ending.attempts[-1].provider if ending.attempts else None,
        decision.provider_message_id,
        decision.unconfirmed_provider,
        decision.suspect,
        decision.final_check,
    )


def _attempt_rows(ending: Ending) -> list[tuple[object, ...]]:
    return [
        (
            ending.id,
            ending.token,
            a.cycle,
            a.number,
            a.hop,
            a.provider,
            a.outcome,
            a.error_code,
            a.error_message,
            a.provider_message_id,
            a.started_ago_seconds,
            a.finished_ago_seconds,
            a.worker_id,
        )
        for a in ending.attempts
    ]
