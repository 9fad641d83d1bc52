"""How one webhook event stands, in a sentence for people. Pure, no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from notifications.story.said import Said
from webhooks.outcome import BUG, GONE
from webhooks.status import EventStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFacts:
    """Columns of its row, and of its endpoint's.

    Attributes:
        answer: what came of its last try: an error code, a status, both; `-` for neither.
        closed: why its endpoint takes nothing now, such as `was deleted`; empty when it does.
    """

    status: EventStatus
    attempt_count: int
    error_code: str
    response_status: int | None
    answer: str
    due_at: datetime
    finished_at: datetime | None
    lease_expires_at: datetime | None
    worker_id: str
    closed: str


def closed(*, is_deleted: bool, enabled: bool, reason: str) -> str:
    """Why an endpoint takes no events, to follow "Its endpoint".

    Args:
        reason: for which the service disabled it; empty when its owner did.
    """
    if is_deleted:
        return "was deleted"
    if enabled:
        return ""
    told = {"GONE": ", as it answered 410", "FAILING": ", as it failed for days"}
    return f"is disabled{told.get(reason, ' by its owner')}"


def standing(facts: EventFacts, now: datetime) -> Said:
    """Why it waits, how it ended, and what helps."""
    match facts.status:
        case EventStatus.PENDING:
            return _waits(facts, now)
        case EventStatus.PROCESSING:
            return (f"It is on its way, held by {facts.worker_id} until ", facts.lease_expires_at or now, ".")
        case EventStatus.DELIVERED:
            return (f"Its endpoint took it with {facts.answer} at ", facts.finished_at or now, ".")
        case EventStatus.FAILED:
            return _failed(facts)
    return _cancelled(facts)


def _waits(facts: EventFacts, now: datetime) -> Said:
    if facts.closed:
        return (f"Its endpoint {facts.closed}: it is cancelled as soon as a dispatcher comes to it.",)
    before = f"Try {facts.attempt_count} came to {facts.answer}. " if facts.attempt_count else ""
    if facts.due_at > now:
        return (f"{before}It is tried {'again' if before else 'for the first time'} at ", facts.due_at, ".")
    return (f"{before}It has been due since ", facts.due_at, ", and no dispatcher has taken it yet.")


def _failed(facts: EventFacts) -> Said:
    at: Said = (" at ", facts.finished_at, ".") if facts.finished_at else (".",)
    if facts.error_code == BUG:
        return ("The service itself failed on it", *at, " The dispatcher's log says more.")
    closed_now = f" Its endpoint {facts.closed}." if facts.closed else ""
    told = f"All {facts.attempt_count} tries failed, the last with {facts.answer}"
    return (told, *at, f" It is not tried again by itself: redeliver it when the cause is gone.{closed_now}")


def _cancelled(facts: EventFacts) -> Said:
    at: Said = (" at ", facts.finished_at, "") if facts.finished_at else ()
    if facts.response_status == GONE:
        return ("Its endpoint answered 410 Gone: it wants no more events, and was disabled for that", *at, ".")
    if facts.closed:
        way = "." if "deleted" in facts.closed else ": enable the endpoint, then redeliver it."
        return (f"Its endpoint {facts.closed}, so it was given up", *at, way)
    return ("Its endpoint was disabled then, so it was given up", *at, ". It takes events again: redeliver it.")
