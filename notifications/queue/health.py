"""The breakers of the providers, as all workers share them. A provider that is well is only ever read of.

Each change is one short transaction on one row: it is locked, the rules of `notifications.breaker` say what follows,
and the row is written. So of any number of workers that want the probe at once, one gets it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from notifications import breaker as rules
from notifications.breaker import Breaker, BreakerRule, BreakerState, Calls, Sign
from notifications.channel import Channel
from notifications.models import Control, ControlAct, ControlAction, ProviderHealth
from notifications.queue.control_acts import last_control_act, record_control
from notifications.queue.paces import end_rest
from notifications.verdict import Verdict
from notifyq.leasing import Fixed, SecondsSince
from notifyq.runtime.wakeup import notify_after_commit

Key = tuple[Channel, str]
"""A channel, and the name of a provider in its chain."""

_COLUMNS = tuple(field.name for field in fields(Breaker))


@dataclass(frozen=True, slots=True)
class Seen:
    """A breaker as a worker reads it. Times are seconds from the reading, by the database's clock.

    Attributes:
        probe_in_seconds: until one call may be tried, negative when it might be already; None when there is no probe:
            while CLOSED, and while an operator keeps it open.
        failing_seconds: how long the outage has lasted.
    """

    state: BreakerState = BreakerState.CLOSED
    generation: int = 0
    failures: int = 0
    probe_in_seconds: float | None = None
    failing_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """A breaker before and after; the same when nothing has changed."""

    before: Breaker
    after: Breaker

    @property
    def opened(self) -> bool:
        return self.after.trips > self.before.trips


_SEEN = Fixed(
    lambda: ProviderHealth.objects.annotate(
        due=-SecondsSince("probe_due_at"), free=-SecondsSince("probe_until"), failing=SecondsSince("failing_since")
    ).values_list("channel", "provider", "state", "generation", "failures", "due", "free", "failing")
)


def read_breakers() -> dict[Key, Seen]:
    """All that were ever open or about to; whatever is missing is CLOSED. One query on a table of a handful of rows."""
    return {
        (Channel(channel), provider): Seen(
            BreakerState(state), generation, failures, free if state == BreakerState.HALF_OPEN else due, failing or 0.0
        )
        for channel, provider, state, generation, failures, due, free, failing in _SEEN.rows()
    }


def record_calls(key: Key, calls: Calls, rule: BreakerRule) -> Change:
    """What one process has seen, added to what all have.

    Transaction: one short one, or the caller's. Locks: the row. Not to be repeated: failures would count twice.
    """
    error = _last_error(calls.error_code, calls.error_message) if calls.error_code else {}
    return _change(key, lambda breaker, now: rules.after_calls(breaker, calls, rule, now), **error)


def begin_probe(key: Key, lease_seconds: float) -> UUID | None:
    """Ask for the probe. Of any number that ask at once one gets its token; None for the others, and when it is not
    due.

    Args:
        lease_seconds: after that it is free again, so that one whose worker has died is not missed.

    Transaction: one short one. Locks: the row.
    """
    token = uuid4()
    change = _change(key, lambda breaker, now: rules.begin_probe(breaker, token, lease_seconds, now) or breaker)
    return token if change.after.probe_token == token else None


def end_probe(key: Key, token: UUID, sign: Sign | None, rule: BreakerRule, verdict: Verdict | None = None) -> Change:
    """The probe was answered or not; `sign` is None when no call was made. Safe to repeat.

    Args:
        verdict: what came back. Of a probe that failed it is the last error from now on.

    Transaction: one short one. Locks: the row.
    """
    if sign is None:
        return _change(key, lambda breaker, now: rules.after_no_probe(breaker, token, now))
    with transaction.atomic():
        change = _change(key, lambda breaker, now: rules.after_probe(breaker, token, sign, rule, now))
        if change.opened and verdict is not None:
            _rows(key).update(**_last_error(verdict.error_code, verdict.error_message))
    return change


def trip_breaker(key: Key, *, by: str, reason: str) -> Change:
    """An operator opens it. Safe to repeat: the first reason stays.

    Transaction: the caller's, or one of its own. Locks: the row.
    """
    with transaction.atomic():
        change = _change(key, rules.tripped)
        if change.after != change.before:
            _record(key, ControlAction.TRIP, by=by, reason=reason)
    return change


def reset_breaker(key: Key, *, by: str, reason: str) -> tuple[Change, bool]:
    """An operator closes it, and ends the rest that the provider may have asked for. Safe to repeat.

    Returns:
        The change, and whether anything came of it: the breaker of a provider that rests may be closed already.

    Transaction: the caller's, or one of its own. Locks: the row, then that of the provider's pace.
    """
    with transaction.atomic():
        change = _change(key, lambda breaker, now: rules.closed(breaker))
        has_effect = end_rest(key[1]) or change.after != change.before
        if has_effect:
            _record(key, ControlAction.RESET, by=by, reason=reason)
    return change, has_effect


def hold_breaker(key: Key) -> ControlAct | None:
    """Keep everybody else from acting on a breaker until the present transaction ends. Returns the last act on it.

    Transaction: the caller's. Locks: the row, which is made where there is none.
    """
    _locked(key)
    return last_control_act(Control.BREAKER, _name(key))


def _record(key: Key, action: ControlAction, *, by: str, reason: str) -> None:
    _rows(key).update(act=action, acted_by=by, acted_at=Now(), act_reason=reason)
    record_control(Control.BREAKER, _name(key), action, by=by, reason=reason)


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]}"


def _last_error(code: str, message: str) -> dict[str, object]:
    return {"last_error_code": code, "last_error_message": message, "last_error_at": Now()}


def _change(key: Key, follow: Callable[[Breaker, datetime], Breaker], **more: object) -> Change:
    with transaction.atomic():
        before, now = _locked(key)
        after = follow(before, now)
        if after != before or more:
            _rows(key).update(**asdict(after), **more, updated_at=Now())
        if after.generation != before.generation:
            notify_after_commit()  # whoever is idle reads it sooner than at its next poll
    return Change(before, after)


def _locked(key: Key) -> tuple[Breaker, datetime]:
    """The breaker, locked until the transaction ends, and the time once it was."""
    found = _rows(key).select_for_update(no_key=True).values(*_COLUMNS)
    if not (rows := list(found)):
        fresh = ProviderHealth(channel=key[0], provider=key[1], updated_at=Now())
        ProviderHealth.objects.bulk_create([fresh], ignore_conflicts=True)
        rows = list(found.all())
    [row] = rows
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
    return Breaker(**{**row, "state": BreakerState(row["state"])}), now


def _rows(key: Key) -> QuerySet[ProviderHealth]:
    return ProviderHealth.objects.filter(channel=key[0], provider=key[1])
