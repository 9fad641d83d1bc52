"""Why a notification is not sent yet, or how it ended, in one sentence. Pure, no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from notifications.channel import OnUnconfirmed
from notifications.outages import Outage
from notifications.outcome import BUG, LOST, NOT_DELIVERED, UNCONFIRMED
from notifications.status import Status, WaitingReason
from notifications.story.said import Said


@dataclass(frozen=True, slots=True)
class PauseFacts:
    """The pause that keeps it.

    Attributes:
        what: in words, such as `SMS` or `everything`.
        reason: in the operator's own words; may be empty.
    """

    what: str
    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ActFacts:
    """The last act of an operator on it."""

    action: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """How one notification stands: columns of its row, and what was looked up beside it.

    Attributes:
        changed_at: the last change of its row; of one that is held, the claim.
        expected_at: behind a full rate limit, when its next slot is expected; else `due_at`.
        pause: the one in force that keeps it, or would as soon as it is due.
        outage: what keeps it, as no provider could take it, or would if it were due.
        asked_at, asked_count: how often its provider was asked what became of it, and when last.
        is_askable: it can be asked; otherwise it has left the chain, or its look-ups are off.
        decided_at: from then on `on_unconfirmed` decides; None when that is not known.
        workers_alive: of those that would take it, how many were heard of just now.
        last_act: of an operator.
    """

    status: Status
    due_at: datetime
    changed_at: datetime
    waiting_reason: str = ""
    expected_at: datetime | None = None
    expires_at: datetime | None = None
    finished_at: datetime | None = None
    attempt_count: int = 0
    max_attempts: int = 1
    error_code: str = ""
    error_message: str = ""
    provider: str = ""
    last_used_provider: str = ""
    provider_message_id: str = ""
    unconfirmed_provider: str = ""
    is_suspect: bool = False
    worker_id: str = ""
    lease_expires_at: datetime | None = None
    sending_provider: str = ""
    pause: PauseFacts | None = None
    outage: Outage | None = None
    asked_at: datetime | None = None
    asked_count: int = 0
    is_askable: bool = True
    decided_at: datetime | None = None
    on_unconfirmed: OnUnconfirmed = OnUnconfirmed.RETRY
    workers_alive: int = 0
    last_act: ActFacts | None = None

    @property
    def may_have_been_sent(self) -> bool:
        """An attempt is open of which nobody knows whether it was sent."""
        return bool(self.unconfirmed_provider) or self.error_code == UNCONFIRMED

    def resolved_by(self) -> str:
        """The operator whose word ended it; empty when it ended by itself."""
        ended_so = self.status in (Status.SENT, Status.FAILED)
        return self.last_act.actor if ended_so and self.last_act and self.last_act.action == "RESOLVE" else ""


def why(facts: Facts, now: datetime) -> Said:
    """One sentence: what it waits for and until when, who holds it, or by what it ended."""
    return _BY_STATUS[facts.status](facts, now)


def _pending(facts: Facts, now: datetime) -> Said:
    if facts.expires_at is not None and facts.expires_at <= now:
        return ("Its time to live ended at ", facts.expires_at, ": the workers end it in their next pass.")
    if facts.waiting_reason == WaitingReason.PAUSED:
        return _paused(facts)
    if facts.waiting_reason == WaitingReason.RATE_LIMITED:
        return _limited(facts, now)
    if facts.due_at > now:
        return _not_due(facts, now)
    return _due(facts, now)


def _paused(facts: Facts) -> Said:
    if facts.pause is None:
        return ("The pause that kept it has ended: the workers let it go on in their next pass.",)
    reason = f" ({facts.pause.reason})" if facts.pause.reason else ""
    return (
        f"Sending of {facts.pause.what} is paused by {facts.pause.by} since ",
        facts.pause.at,
        f"{reason}: it keeps its place and goes on when the pause ends.",
    )


def _limited(facts: Facts, now: datetime) -> Said:
    told = "Its recipient has been sent as many as the limit allows: "
    if facts.expected_at is None or facts.expected_at <= now:
        return (f"{told}it goes on as soon as the workers see a free slot, which is about now.",)
    return (f"{told}it waits for the next free slot, expected about ", facts.expected_at, ".")


def _not_due(facts: Facts, now: datetime) -> Said:
    when: Said = (facts.due_at, ", in ", facts.due_at - now, ".")
    match facts.waiting_reason:
        case WaitingReason.SCHEDULED:
            return ("It is scheduled for ", *when)
        case WaitingReason.RETRY_BACKOFF:
            return (f"{_failed_so_far(facts)}: attempt {facts.attempt_count + 1} follows at ", *when)
        case WaitingReason.PROVIDER_UNAVAILABLE:
            return (*_unavailable(facts), ": it is tried again at ", *when)
    return ("It is due at ", *when)


def _failed_so_far(facts: Facts) -> str:
    through = f" through {facts.last_used_provider}" if facts.last_used_provider else ""
    code = f" with {facts.error_code}" if facts.error_code else ""
    return f"Attempt {facts.attempt_count} of {facts.max_attempts}{through} failed{code}"


def _unavailable(facts: Facts) -> Said:
    who = facts.unconfirmed_provider or "No provider"
    takes = "takes nothing now" if facts.unconfirmed_provider else "can take it now"
    began = facts.outage.since if facts.outage else None
    since: Said = () if began is None else (", since ", began)
    return (f"{who} {takes}", *since)


def _until(outage: Outage, now: datetime) -> Said:
    if outage.next_call_at is None:
        return (": it keeps its place, and goes on when an operator resets the breaker.",)
    if outage.next_call_at <= now:
        return (": one call is due now, and it goes on once that is answered.",)
    when: Said = (outage.next_call_at, ", in ", outage.next_call_at - now)
    return (": the next call is tried at ", *when, ", and it goes on once that is answered.")


def _due(facts: Facts, now: datetime) -> Said:
    if facts.pause is not None:
        return _paused(facts)
    if facts.outage is not None:
        return (*_unavailable(facts), *_until(facts.outage, now))
    age = now - facts.due_at
    since: Said = ("It is due since ", facts.due_at, ", for ", age, ", and no worker has claimed it yet: ")
    if not facts.workers_alive:
        return (*since, "none is alive. Start manage.py run_workers.")
    alive = "1 is alive" if facts.workers_alive == 1 else f"{facts.workers_alive} are alive"
    if facts.is_suspect:
        return (*since, f"a worker died while holding it, so it is tried alone; {alive}.")
    return (*since, f"{alive}, busy with what comes before it.")


def _processing(facts: Facts, now: datetime) -> Said:
    through = f", sending through {facts.sending_provider}," if facts.sending_provider else ""
    held: Said = (f"Worker {facts.worker_id}{through} has held it for ", now - facts.changed_at)
    if facts.lease_expires_at is None:
        return (*held, ".")
    if facts.lease_expires_at <= now:
        return (*held, ", longer than its lease, which ended at ", facts.lease_expires_at, ": it is taken back next.")
    return (*held, ", with a lease until ", facts.lease_expires_at, ".")


def until_when(facts: Facts, now: datetime) -> Said:
    """Of one that is RECONCILING: why nobody can act on it yet, and what ends that, at the latest when."""
    name = facts.unconfirmed_provider
    if facts.is_askable:
        asked = f"Nothing while {name} is asked: it may have been sent, and its answer ends the doubt. "
        known = f"{name} can know no more"
    else:
        asked = f"Nothing yet: it may have been sent, and {name} cannot be asked. "
        known = "its hour is over"
    if facts.decided_at is None:
        return (f"{asked}Once {known}, onUnconfirmed decides: {_undecided(facts)}",)
    if facts.decided_at <= now:
        return (f"{asked}As {known}, onUnconfirmed decides when its turn comes: {_undecided(facts)}",)
    return (f"{asked}From ", facts.decided_at, f" on, when {known}, onUnconfirmed decides: {_undecided(facts)}")


def _undecided(facts: Facts) -> str:
    held = "it becomes a dead letter, to be marked or retried here."
    if facts.on_unconfirmed is OnUnconfirmed.HOLD:
        return f"with HOLD {held}"
    if facts.attempt_count >= facts.max_attempts:
        return f"with RETRY, but no attempt left, {held}"
    if facts.expires_at is not None and facts.decided_at is not None and facts.expires_at <= facts.decided_at:
        return f"with RETRY, but its time to live over by then, {held}"
    return "with RETRY it is sent again, which may be a second copy."


def _reconciling(facts: Facts, now: datetime) -> Said:
    if not facts.is_askable:
        turn: Said = ("at ", facts.due_at, ".") if facts.due_at > now else ("in a moment.",)
        cannot = "it cannot be asked, as it has left the chain or its look-ups are off"
        return (f"The answer of {facts.unconfirmed_provider} was lost, and {cannot}: its turn comes ", *turn)
    lost = f"The answer of {facts.unconfirmed_provider} was lost, and it is asked what became of the send: "
    next_ask: Said = ("next at ", facts.due_at, ".") if facts.due_at > now else ("next in a moment.",)
    if facts.asked_at is None:
        return (lost, *next_ask)
    times = "" if facts.asked_count < 2 else f"{facts.asked_count} times, "
    return (f"{lost}asked {times}last at ", facts.asked_at, ", ", *next_ask)


def _sent(facts: Facts, now: datetime) -> Said:
    if actor := facts.resolved_by():
        return (f"{actor} found at ", _ended(facts, now), " that it was delivered.")
    proof = f" as {facts.provider_message_id}" if facts.provider_message_id else ""
    return (f"It was sent: {facts.provider or 'the provider'} accepted it at ", _ended(facts, now), f"{proof}.")


def _failed(facts: Facts, now: datetime) -> Said:
    if actor := facts.resolved_by():
        return (f"{actor} found at ", _ended(facts, now), " that it was not delivered.")
    if facts.error_code == NOT_DELIVERED:
        return ("An operator found at ", _ended(facts, now), " that it was not delivered.")
    who = facts.last_used_provider or "The provider"
    return (f"{who} refused it for good at ", _ended(facts, now), f"{_because(facts)}. A retry sends the same again.")


def _dead_lettered(facts: Facts, now: datetime) -> Said:
    at = _ended(facts, now)
    if facts.may_have_been_sent:
        where = f" through {facts.unconfirmed_provider}" if facts.unconfirmed_provider else ""
        return (
            "It is held since ",
            at,
            f", as it may have been sent{where} and nobody can say: decide what became of it.",
        )
    if facts.error_code == BUG:
        return ("Our own code failed over it at ", at, f"{_because(facts)}. Retry it once that is mended.")
    if facts.error_code == LOST:
        return ("Each worker that tried it died, the last at ", at, ": find out why before it is retried.")
    count = f"all {facts.max_attempts} attempts" if facts.max_attempts > 1 else "its only attempt"
    return (f"It used up {count}, the last at ", at, f"{_because(facts)}.")


def _cancelled(facts: Facts, now: datetime) -> Said:
    by_operator = facts.last_act is not None and facts.last_act.action == "CANCEL"
    who = facts.last_act.actor if facts.last_act and by_operator else "Its client"
    return (f"{who} cancelled it at ", _ended(facts, now), ", before it was sent.")


def _expired(facts: Facts, now: datetime) -> Said:
    return ("Its time to live ended at ", facts.expires_at or _ended(facts, now), ", before it could be sent.")


def _because(facts: Facts) -> str:
    told = ": ".join(filter(None, (facts.error_code, facts.error_message)))
    return f" ({told})" if told else ""


def _ended(facts: Facts, now: datetime) -> datetime:
    return facts.finished_at or now


_BY_STATUS = {
    Status.PENDING: _pending,
    Status.PROCESSING: _processing,
    Status.RECONCILING: _reconciling,
    Status.SENT: _sent,
    Status.FAILED: _failed,
    Status.DEAD_LETTERED: _dead_lettered,
    Status.CANCELLED: _cancelled,
    Status.EXPIRED: _expired,
}
