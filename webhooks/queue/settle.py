"""Ending leases with what came of the attempt, or giving them back."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from notifyq.leasing import Arrays, Follower, end_leases, write_all
from webhooks.models import WebhookAttempt, WebhookEvent
from webhooks.outcome import Decision
from webhooks.queue.endpoints import note_answers
from webhooks.status import FINAL, EventStatus, allowed

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One call to one endpoint, as it goes into the history.

    Attributes:
        started_ago_seconds, finished_ago_seconds: before the settling statement, so that all times in the history
            are the database's; `started_ago_seconds` is None when nobody knows.
    """

    cycle: int
    number: int
    response_status: int | None
    response_excerpt: str = field(repr=False)
    error_code: str
    started_ago_seconds: float | None
    finished_ago_seconds: float
    worker_id: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of one lease: where the event goes, and the attempt that was made under it."""

    id: UUID
    token: UUID
    endpoint_id: UUID
    decision: Decision
    attempt: AttemptRecord | None = None


_ENDING = {
    "id": "uuid",
    "token": "uuid",
    "held_status": "text",
    "status": "text",
    "wait_seconds": "float8",
    "refund": "int2",
    "is_final": "bool",
    "error_code": "text",
    "response_status": "int2",
    "suspect": "bool",
}
_SETTLE = {
    "status": "v.status",
    "due_at": "COALESCE(now() + v.wait_seconds * interval '1 second', n.due_at)",
    "attempt_count": "n.attempt_count - v.refund",
    "finished_at": "CASE WHEN v.is_final THEN now() END",
    "last_error_code": "v.error_code",
    "last_response_status": "v.response_status",
    "suspect": "v.suspect",
}
# What is given back keeps what an earlier attempt said of it.
_RELEASE = {"status": "v.status", "attempt_count": "n.attempt_count - v.refund"}

_ATTEMPT = {
    "id": "uuid",
    "token": "uuid",
    "cycle": "int2",
    "number": "int2",
    "response_status": "int2",
    "response_excerpt": "text",
    "error_code": "text",
    "started_ago": "float8",
    "finished_ago": "float8",
    "worker_id": "text",
}
_ATTEMPT_INTO = {
    "event_id": "f.id",
    "claim_token": "f.token",
    "cycle": "f.cycle",
    "number": "f.number",
    "response_status": "f.response_status",
    "response_excerpt": "f.response_excerpt",
    "error_code": "f.error_code",
    "started_at": "now() - f.started_ago * interval '1 second'",
    "finished_at": "now() - f.finished_ago * interval '1 second'",
    "worker_id": "f.worker_id",
}


def settle(endings: Sequence[Ending], *, by: str = "settle") -> list[Ending]:
    """Write what came of many attempts: state, history and the endpoints' health commit together or not at all.

    Args:
        endings: of leases held by whoever calls; one that is stale changes nothing and leaves no history.
        by: who makes the move, for the check against the table of transitions.

    Returns:
        Those that applied. A repeat of the same endings returns none.

    Raises:
        DatabaseError: the database is away, and nothing was written; a repeat is safe.

    Transaction: one. Locks: the events, then those endpoints whose health changes, in the order of their ids.
    """
    for ending in endings:
        if not allowed(EventStatus.PROCESSING, ending.decision.status, by=by):
            raise ValueError(f"{by} may not move an event from PROCESSING to {ending.decision.status}")
    with transaction.atomic():
        done = set(write_all(endings, _settle_together, _settle_plain))
        applied = [ending for ending in endings if (ending.id, ending.token) in done]
        answered = [ending for ending in applied if by == "settle"]  # a lost dispatcher says nothing of the endpoint
        note_answers([(ending.endpoint_id, ending.decision) for ending in answered])
    return applied


def release(endings: Sequence[Ending]) -> int:
    """Give unstarted events back to the queue, uncounted and at their old place in the order.

    Args:
        endings: their decisions come from `outcome.given_back`.

    Returns:
        How many were still held. Safe to repeat.
    """
    columns = {name: _ENDING[name] for name in ("id", "token", "held_status", "status", "refund")}
    rows = [(e.id, e.token, EventStatus.PROCESSING, e.decision.status, e.decision.refund) for e in endings]
    return len(end_leases(WebhookEvent, _RELEASE, Arrays(columns, rows)))


def _settle_together(endings: Sequence[Ending]) -> list[tuple[UUID, UUID]]:
    history = Follower(
        WebhookAttempt._meta.db_table, _ATTEMPT_INTO, Arrays(_ATTEMPT, [_attempt_row(e) for e in endings if e.attempt])
    )
    with transaction.atomic():  # a savepoint: a refused batch must not poison the transaction around it
        return end_leases(WebhookEvent, _SETTLE, Arrays(_ENDING, [_ending_row(e) for e in endings]), [history])


def _settle_plain(ending: Ending, error: Exception) -> list[tuple[UUID, UUID]]:
    """The database refuses a value, which can only be the endpoint's text: the state matters more than the text."""
    log.error("webhook_settle_refused", extra={"event_id": str(ending.id), "error": type(error).__name__})
    attempt = ending.attempt and dataclasses.replace(ending.attempt, response_excerpt="")
    return _settle_together([dataclasses.replace(ending, attempt=attempt)])


def _ending_row(ending: Ending) -> tuple[object, ...]:
    decision = ending.decision
    return (
        ending.id,
        ending.token,
        EventStatus.PROCESSING,
        decision.status,
        decision.wait_seconds,
        decision.refund,
        decision.status in FINAL,
        decision.error_code,
        decision.response_status,
        decision.suspect,
    )


def _attempt_row(ending: Ending) -> tuple[object, ...]:
    a = ending.attempt
    if a is None:
        raise ValueError("no attempt was made")
    return (
        ending.id,
        ending.token,
        a.cycle,
        a.number,
        a.response_status,
        a.response_excerpt,
        a.error_code,
        a.started_ago_seconds,
        a.finished_ago_seconds,
        a.worker_id,
    )
