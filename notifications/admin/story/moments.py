"""From rows to the entries of the story. No queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from notifications.admin.story.reading import History
from notifications.admin.tones import OUTCOME_TONES, STATUS_TONES
from notifications.models import Attempt, Notification, OperatorAction
from notifications.outcome import LOST
from notifications.status import FINAL, Status
from notifications.story.moment import Moment, in_order, told
from notifications.story.said import Said
from notifications.story.why import Facts, why
from notifications.verdict import Outcome

NOTICED = timedelta(seconds=1)
"""Shorter waits are not worth a line."""
_DONE = {
    "RETRY": "Retried",
    "RESOLVE": "Resolved",
    "CANCEL": "Cancelled",
    "RESCHEDULE": "Rescheduled",
}
_RESOLVED = {"SENT": "Marked as sent", "FAILED": "Marked as not delivered"}
_DETAILS = {
    "sendAt": "new send time",
    "previousSendAt": "send time before",
    "expiresAt": "new expiry",
    "bulkAct": "bulk act",
}
_KNOWN_BY = {"USER": "a login to the console", "API_KEY": "an API key"}


def moments(row: Notification, history: History, facts: Facts, now: datetime) -> list[Moment]:
    """The whole story so far, the oldest first; the last one is how it stands."""
    found = [
        *_beginning(row, history),
        *_attempts(history.attempts),
        *map(of_look_up, history.look_ups),
        *map(_act, history.actions),
        *(of_receipt(receipt, _first_sent_at(row, history)) for receipt in history.receipts),
        *_present(row, facts, now),
    ]
    return in_order(found)


def _beginning(row: Notification, history: History) -> Iterator[Moment]:
    yield Moment(
        at=row.created_at,
        title=(f"Created by {row.client}",),
        facts=told(
            ("idempotency key", row.idempotency_key),
            ("target", str(row.target_index + 1) if row.group_id else None),
            ("group", str(row.group_id) if row.group_id else None),
        ),
    )
    asked_for = _first_send_at(row, history)
    if asked_for is not None and asked_for - row.created_at >= NOTICED:
        yield Moment(at=row.created_at, title=("Scheduled for ", asked_for))
    first = next((a for a in history.attempts if a.started_at), None)
    if first is not None and not history.is_cut and first.started_at is not None:
        yield from _wait(max(row.created_at, row.send_at), first.started_at, _UNTOLD)


def _first_send_at(row: Notification, history: History) -> datetime | None:
    """As its client asked; None when that is not known any more."""
    first = next((action for action in history.actions if action.action == "RESCHEDULE"), None)
    if first is None:
        return row.send_at
    known = None if history.is_cut else first.details.get("previousSendAt")
    return datetime.fromisoformat(known) if known else None


_UNTOLD = "for a free seat, a limit or a pause: the rows do not tell which"


def _attempts(attempts: Iterable[Attempt]) -> Iterator[Moment]:
    known = list(attempts)
    yield from map(_attempt, known)
    for before, after in pairwise(known):
        if (before.cycle, before.number) < (after.cycle, after.number) and before.cycle == after.cycle:
            lost = before.error_code == LOST
            reason = "taken back from the lost worker" if lost else f"backoff before attempt {after.number}"
            yield from _wait(before.finished_at, after.started_at or after.finished_at, reason)


def _attempt(attempt: Attempt) -> Moment:
    took: Said = (attempt.finished_at - attempt.started_at,) if attempt.started_at else ("nobody knows",)
    through = f" through {attempt.provider}" if attempt.provider else ""
    answer = ": ".join(filter(None, (attempt.error_code, attempt.error_message)))
    return Moment(
        at=attempt.started_at or attempt.finished_at,
        title=(f"Attempt {attempt.cycle}.{attempt.number}.{attempt.hop}{through}",),
        badge=(attempt.outcome, OUTCOME_TONES.get(Outcome(attempt.outcome), "quiet")),
        facts=(
            *told(("answer", answer), ("message id", attempt.provider_message_id)),
            ("took", took),
            *told(("claimed by", attempt.worker_id)),
        ),
    )


def _wait(since: datetime, until: datetime, reason: str) -> Iterator[Moment]:
    if until - since >= NOTICED:
        yield Moment(at=since, title=("Waited ", until - since, f": {reason}"))


def _act(action: OperatorAction) -> Moment:
    return Moment(
        at=action.created_at,
        title=(f"{_done(action)} by {action.actor}",),
        badge=("operator", "busy"),
        facts=(
            *told(("reason", action.reason or "none given"), ("status before", action.status_before)),
            *(
                (_DETAILS.get(name, name), _detail(value))
                for name, value in sorted(action.details.items())
                if name != "outcome"
            ),
            *told(("acted with", _KNOWN_BY.get(action.actor_kind, action.actor_kind))),
        ),
    )


def _done(action: OperatorAction) -> str:
    said = _RESOLVED.get(str(action.details.get("outcome"))) if action.action == "RESOLVE" else None
    return said or _DONE.get(action.action, action.action)


def _detail(value: object) -> Said:
    """As an instant where it is one."""
    try:
        return (datetime.fromisoformat(str(value)),)
    except ValueError:
        return (str(value),)


def of_look_up(look_up: Any) -> Moment:
    """What its provider said when it was asked what became of the send.

    Args:
        look_up: `provider, found, error_code, error_message, asked_count, first_asked_at, last_asked_at`.
    """
    tones = {"ACCEPTED": "good", "REJECTED": "bad", "UNKNOWN": "wait"}
    answer = ": ".join(filter(None, (look_up.error_code, look_up.error_message)))
    many = look_up.asked_count > 1
    return Moment(
        at=look_up.first_asked_at,
        title=(f"Asked {look_up.provider} what became of it",),
        badge=(look_up.found, tones.get(look_up.found, "quiet")),
        facts=(
            *told(("answer", answer)),
            *((("said so", (f"{look_up.asked_count} times, last at ", look_up.last_asked_at)),) if many else ()),
        ),
    )


def _first_sent_at(row: Notification, history: History) -> datetime:
    return next((a.started_at for a in history.attempts if a.started_at), row.created_at)


def of_receipt(receipt: Any, since: datetime) -> Moment:
    """What its provider reported later. It stands where it happened, as the provider says.

    Args:
        receipt: `provider, status, word, code, text, provider_message_id, credited, at, received_at`.
        since: nothing can have happened before: the provider's clock may be another, or count whole seconds.
    """
    tones = {"ACCEPTED": "busy", "DELAYED": "wait", "DELIVERED": "good", "OPENED": "good"}
    answer = ": ".join(filter(None, (receipt.code, receipt.text)))
    at = min(receipt.received_at, max(receipt.at or receipt.received_at, since))
    happened: tuple[tuple[str, Said], ...] = (("happened", (receipt.at,)),) if receipt.at else ()
    stray = None if receipt.credited else f"it was not sent through {receipt.provider}, so this counts for nothing"
    return Moment(
        at=at,
        title=(f"{receipt.provider} reported",),
        badge=(receipt.status, tones.get(receipt.status, "bad") if receipt.credited else "quiet"),
        facts=(
            *told(("not credited", stray), ("in its words", receipt.word), ("answer", answer)),
            *told(("message id", receipt.provider_message_id)),
            *happened,
            ("told", (receipt.received_at,)),
        ),
    )


def _present(row: Notification, facts: Facts, now: datetime) -> Iterator[Moment]:
    if facts.status is Status.PROCESSING:
        yield Moment(at=facts.changed_at, title=(f"Claimed by worker {facts.worker_id}",))
    badge = (row.status, STATUS_TONES.get(facts.status, "quiet"))
    yield Moment(at=_stands_since(facts, now), title=why(facts, now), badge=badge)


def _stands_since(facts: Facts, now: datetime) -> datetime:
    """An act that ended it was recorded a moment after its effect: it is shown before."""
    if facts.status not in FINAL or facts.finished_at is None:
        return now
    ended_by_act = facts.last_act is not None and facts.last_act.action in ("CANCEL", "RESOLVE")
    return max(facts.finished_at, facts.last_act.at) if facts.last_act and ended_by_act else facts.finished_at
