"""What needs attention, in the order in which one looks at it: what, why, since when, whose, and where to act."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from notifications import heartbeats
from notifications.breaker import BreakerState
from notifications.heartbeats import WorkerState
from notifications.models import BulkStatus, Pause, ProviderHealth
from notifications.outcome import UNCONFIRMED
from notifications.pausing import PauseScope
from notifications.selectors import BreakerView
from notifications.status import Status
from notifications.story.said import Said
from notifyq.overview.acts import ActInHand
from notifyq.overview.endpoints import ENDPOINTS_MOST as FAILING_MOST
from notifyq.overview.endpoints import Failing
from notifyq.overview.troubles import Disabled, Ended, Kept, OldestDue, Troubles, Unconfirmed
from notifyq.roles import OPERATE
from webhooks.selectors import COUNTED_MOST

DUE_SECONDS = 60.0
"""What is due for longer is told even while workers are at work."""
SHOWN_MOST = 20
_SAME_MOMENT = timedelta(seconds=1)
"""Tripping what still works puts it out of use: that is one event, written with two instants."""
_PLACES = {
    "worker": "notifications.view_worker",
    "pause": "notifications.view_pause",
    "providerhealth": "notifications.view_providerhealth",
    "receipt": "notifications.view_receipt",
}


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing.

    Attributes:
        tone: `bad` for what keeps notifications from going out, `wait` for the rest.
        told: why, since when and whose.
        link, action: where it can be acted upon.
        needs: the permission to go there.
        acts: the permission to do there what `action` says; empty when that is only to look.
    """

    tone: str
    title: str
    told: Said
    link: str
    action: str
    needs: str
    acts: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the front page has read."""

    now: datetime
    troubles: Troubles
    workers: Sequence[WorkerState]
    pauses: Sequence[Pause]
    breakers: Sequence[BreakerView]
    acts: Sequence[ActInHand]
    suspects: float
    webhook_age_seconds: float
    webhook_backlog: int


def concerns(seen: Seen) -> list[Concern]:
    """All of them, the worst first; empty when there is nothing to do."""
    found = [
        *_nobody_delivers(seen),
        *(_paused(pause, seen.troubles) for pause in seen.pauses),
        *_providers(seen),
        *_oldest_due(seen),
        *(_ended(ended, seen) for ended in seen.troubles.ended),
        *(_unconfirmed(doubt, seen.troubles) for doubt in seen.troubles.unconfirmed),
        *_bulk_acts(seen.acts),
        *_webhooks(seen),
        *_receipts(seen.troubles),
        *_workers(seen),
    ]
    return sorted(found, key=lambda concern: concern.tone)


def _nobody_delivers(seen: Seen) -> Iterator[Concern]:
    due = seen.troubles.oldest_due
    if due is None or due.age_seconds <= heartbeats.late_after_seconds():
        return
    delivering = [w for w in seen.workers if w.role == heartbeats.DELIVERY]
    if any(worker.is_at_work for worker in delivering):
        return
    what: Said = ("Nothing is sent, and what is due waits since ", due.due_at, ". ")
    if any(worker.is_stuck for worker in delivering):
        told: Said = (*what, "All delivery workers that are alive hold work and get nothing done: restart them.")
        yield _at("bad", "Delivery workers are stuck", told, "worker", "Workers")
        return
    known = min((w.beat_age_seconds for w in delivering), default=None)
    heard: Said = ("None is known",) if known is None else ("The last was heard of ", timedelta(seconds=known), " ago")
    yield _at(
        "bad", "No delivery worker is alive", (*what, *heard, ". Start manage.py run_workers."), "worker", "Workers"
    )


def _paused(pause: Pause, troubles: Troubles) -> Concern:
    whose = troubles.client_names.get(pause.value, pause.value) if pause.scope == PauseScope.CLIENT else pause.value
    why = f": {pause.reason}" if pause.reason else ""
    told: Said = (f"by {pause.created_by} since ", pause.created_at, why, _waits_behind(pause, troubles))
    return _at("bad", f"Paused: {pause.scope} {whose}".strip(), told, "pause", "Pauses")


def _waits_behind(pause: Pause, troubles: Troubles) -> str:
    """Empty where nothing does yet."""
    kept = troubles.kept.get(pause.pk)
    if kept is None:
        return ""
    whose = "" if pause.scope == PauseScope.CLIENT else f", of {_whose(kept, troubles)}"
    return f". {kept.count:,}{'+' if kept.is_bounded else ''} due wait for its end{whose}."


def _providers(seen: Seen) -> Iterator[Concern]:
    """One for each provider and the way in which it is out, over all its channels."""
    out: dict[tuple[str, bool], list[ProviderHealth]] = {}
    for row in _shut(seen):
        out.setdefault((row.provider, row.tripped), []).append(row)
    return (_provider(rows, _served(seen)) for rows in out.values())


def _shut(seen: Seen) -> list[ProviderHealth]:
    return [view.row for view in seen.breakers if view.row.state != BreakerState.CLOSED]


def _served(seen: Seen) -> set[str]:
    """The channels of which some provider takes something."""
    shut = {(row.channel, row.provider) for row in _shut(seen)}
    paused = {pause.value for pause in seen.pauses if pause.scope == PauseScope.PROVIDER}
    chains = settings.NOTIFYQ.provider_chains.items()
    return {str(c) for c, chain in chains if any((c, name) not in shut and name not in paused for name in chain)}


def _provider(rows: Sequence[ProviderHealth], served: set[str]) -> Concern:
    first, last = rows[0], max(rows, key=lambda row: row.last_error_at or row.updated_at)
    left_out = [row.channel for row in rows if row.channel not in served]
    none_left = f" No provider of {_listed(left_out)} is left." if left_out else ""
    state = "tripped" if first.tripped else "out of use"
    title = f"{first.provider} is {state} on {_listed(row.channel for row in rows)}"
    since = min(row.failing_since or row.updated_at for row in rows)
    told: Said
    if first.tripped:
        told = (*_tripped(rows, since), none_left)
    else:
        told = ("since ", since, ", last error ", _error(last), ".", none_left)
    if len(rows) > 1:
        return _at("bad" if left_out else "wait", title, told, "providerhealth", "Providers")
    link = reverse("admin:notifications_providerhealth_change", args=[first.pk])
    return Concern("bad" if left_out else "wait", title, told, link, "The breaker", _PLACES["providerhealth"])


def _tripped(rows: Sequence[ProviderHealth], since: datetime) -> Said:
    """Args: since: out of use without a break, perhaps from before somebody tripped it."""
    first = min(rows, key=lambda row: row.acted_at or row.updated_at)
    at = first.acted_at or first.updated_at
    before: Said = (" It was out of use before, since ", since, ".") if at - since > _SAME_MOMENT else ()
    return (f"by {first.acted_by or 'an operator'} ", at, f"{_colon(first.act_reason)}.", *before)


def _error(row: ProviderHealth) -> str:
    return f"{row.last_error_code or 'unknown'}{_colon(row.last_error_message)}"


def _oldest_due(seen: Seen) -> Iterator[Concern]:
    due = seen.troubles.oldest_due
    if due is None or due.age_seconds <= DUE_SECONDS:
        return
    told: Said = (*_of(due), " is due since ", due.due_at, ".")
    age = timedelta(seconds=due.age_seconds)
    link = reverse("admin:notifications_notification_change", args=[due.id])
    needs = "notifications.view_notification"
    yield Concern("bad", "The oldest due waits too long", ("for ", age, ": ", *told), link, "Why it waits", needs)


def _of(due: OldestDue) -> Said:
    return (f"{due.channel} of {due.client}",)


def _ended(ended: Ended, seen: Seen) -> Concern:
    is_dead = ended.status is Status.DEAD_LETTERED
    many = f"{ended.count:,}{'+' if ended.is_bounded else ''}"
    what = ("dead letter" if is_dead else "failure") + ("" if ended.count == 1 else "s")
    through = f" through {ended.provider}" if ended.provider else ""
    share = "all" if ended.cause_count == ended.count else f"{ended.cause_count:,}"
    told: Said = (
        *("since ", ended.since, f", {share} {ended.error_code or 'without an error code'}{through} ({ended.channel})"),
        f", of {_whose(ended, seen.troubles)}.",
    )
    kind = "dead" if is_dead else "failed"
    action = "Look and mark" if ended.error_code == UNCONFIRMED else "Look and retry"
    return Concern(
        *("bad" if is_dead else "wait", f"{many} {what} in the last hour", told),
        *(undelivered_address(kind, seen.now), action, "notifications.view_deadletter", OPERATE),
    )


def _unconfirmed(doubt: Unconfirmed, troubles: Troubles) -> Concern:
    many = f"{doubt.count:,}{'+' if doubt.is_bounded else ''}"
    if doubt.found is None:
        said = "it was not asked yet what became of them"
    else:
        said = f"of the oldest it said {doubt.found}{_colon(doubt.error_code or '')}{_colon(doubt.error_message or '')}"
    told: Said = ("the oldest since ", doubt.since, f" ({doubt.channels}), of {_whose(doubt, troubles)}; {said}.")
    link = f"{reverse('admin:notifications_notification_changelist')}?status={Status.RECONCILING}"
    title = f"{many} unconfirmed through {doubt.provider} for long"
    return Concern("wait", title, told, link, "Look", "notifications.view_notification")


def _whose(many: Ended | Kept | Unconfirmed, troubles: Troubles) -> str:
    others = f" and {_count(many.client_count, 'other client')}" if many.client_count else ""
    return f"{troubles.client_names.get(str(many.client_id), 'a client that is gone')}{others}"


def undelivered_address(kind: str, now: datetime) -> str:
    """The list of those that ended within the last hour."""
    after = (now - timedelta(hours=1)).astimezone(UTC)
    return f"{reverse('admin:dead-letters-list')}?{urlencode({'kind': kind, 'after': f'{after:%Y-%m-%dT%H:%M:%S}'})}"


def _bulk_acts(acts: Sequence[ActInHand]) -> Iterator[Concern]:
    for act in acts:
        row, what = act.row, f"The bulk act \u201c{act.what}\u201d"
        done = f"{row.done_count:,}{'' if row.previewed_count is None else f' of {row.previewed_count:,}'} done"
        who: Said = (f"begun by {row.actor} ", row.created_at, f", {done}")
        link, needs = reverse("admin:bulk-act", args=[row.pk]), "notifications.view_bulkact"
        if row.status == BulkStatus.FAILED:
            yield Concern("bad", f"{what} failed", (*who, _colon(row.failure)), link, "Resume it", needs, act.operate)
        elif row.status == BulkStatus.STOPPED:
            stopped: Said = (f"by {act.stopped_by} ", act.stopped_at, "; ") if act.stopped_at else ()
            yield Concern("wait", f"{what} is stopped", (*stopped, *who, "."), link, "Resume it", needs, act.operate)
        elif act.silent_seconds is not None:
            told: Said = (*who, "; no worker on it for ", timedelta(seconds=act.silent_seconds))
            yield Concern("bad", f"{what} stands still", told, link, "Look", needs)


def _webhooks(seen: Seen) -> Iterator[Concern]:
    events = "webhooks.view_webhookevent"
    if seen.webhook_age_seconds > DUE_SECONDS:
        alive = any(w.is_at_work for w in seen.workers if w.role not in heartbeats.SENDING)
        told: Said = (
            *("the oldest of ", f"{seen.webhook_backlog:,} waiting is due for "),
            *(timedelta(seconds=seen.webhook_age_seconds), ". " if alive else ". No dispatcher is alive: "),
            *(() if alive else ("start manage.py dispatch_webhooks --forever, unless cron runs it.",)),
        )
        link = f"{reverse('admin:webhooks_webhookevent_changelist')}?status=PENDING"
        yield Concern("wait" if alive else "bad", "Webhook events wait too long", told, link, "Webhook events", events)
    if seen.troubles.failing:
        yield _failing(seen.troubles.failing)
    if seen.troubles.disabled:
        yield _disabled(seen.troubles.disabled, seen.troubles.missed_count)


def _failing(failing: Failing) -> Concern:
    is_one = failing.count == 1
    answer = f", last answer {failing.answer}" if failing.answer else ""
    told: Said = (
        *(f"{'' if is_one else 'for longest: '}{failing.place} of {failing.client}, since ", failing.since),
        f"{answer}. {_waiting(failing.waiting_count)} for {'it' if is_one else 'them'}. ",
        *("If nothing gets through until ", failing.disabled_at, ", it is disabled."),
    )
    needs = "webhooks.view_webhookendpoint"
    if is_one:
        link = reverse("admin:webhooks_webhookendpoint_change", args=[failing.id])
        return Concern("wait", "A webhook endpoint is failing", told, link, "The endpoint", needs)
    link = f"{reverse('admin:webhooks_webhookendpoint_changelist')}?failing=yes"
    title = f"{failing.count:,}{'+' if failing.count >= FAILING_MOST else ''} webhook endpoints are failing"
    return Concern("wait", title, told, link, "Endpoints", needs)


def _waiting(count: int) -> str:
    return f"{_events(count)} wait{'s' if count == 1 else ''}" if count else "No event waits"


def _events(count: int) -> str:
    return f"{count:,}{'+' if count >= COUNTED_MOST else ''} event{'' if count == 1 else 's'}"


def _disabled(disabled: Sequence[Disabled], missed_count: int) -> Concern:
    latest = disabled[0]
    it = "it" if latest.count == 1 else "them"
    was = "was" if missed_count == 1 else "were"
    missed = f" {_events(missed_count)} {was} cancelled for {it}: enable {it} and redeliver." if missed_count else ""
    why = f": {latest.reason.lower().replace('_', ' ')}.{missed}"
    told: Said = (f"the latest of {latest.client}, since ", latest.at, why)
    link = f"{reverse('admin:webhooks_webhookendpoint_changelist')}?enabled__exact=0"
    title = f"{_count(latest.count, 'webhook endpoint')} disabled by the service"
    return Concern("wait", title, told, link, "Endpoints", "webhooks.view_webhookendpoint")


def _receipts(troubles: Troubles) -> Iterator[Concern]:
    if troubles.uncredited_count:
        title = f"{_count(troubles.uncredited_count, 'receipt')} not credited in the last hour"
        told = "reported by a provider through which the notification cannot have been sent."
        link = f"{reverse('admin:notifications_receipt_changelist')}?credited__exact=0"
        yield Concern("wait", title, (told,), link, "Receipts", _PLACES["receipt"])
    if troubles.receipts_waiting_count:
        title = f"{_count(troubles.receipts_waiting_count, 'receipt')} without a notification"
        yield _at("wait", title, ("for more than a minute; they are looked at again.",), "receipt", "Receipts")


def _workers(seen: Seen) -> Iterator[Concern]:
    if seen.suspects and not any(w.role == heartbeats.QUARANTINE and w.is_at_work for w in seen.workers):
        many = f"{int(seen.suspects):,} to be tried alone, since a worker died holding them."
        yield _at("bad", "No quarantine process is at work", (many,), "worker", "Workers")
    for word, some in (
        ("silent", [w for w in seen.workers if not w.is_alive]),
        ("late", [w for w in seen.workers if w.is_late]),
        ("stuck", [w for w in seen.workers if w.is_stuck and not w.is_late]),
    ):
        if some:
            named = ", ".join(f"{w.role} {w.host} {w.pid}" for w in some[:3])
            more = f" and {len(some) - 3:,} more" if len(some) > 3 else ""
            yield _at("wait", f"{_count(len(some), 'worker')} {word}", (f"{named}{more}.",), "worker", "Workers")


def _at(tone: str, title: str, told: Said, model: str, action: str) -> Concern:
    return Concern(tone, title, told, reverse(f"admin:notifications_{model}_changelist"), action, _PLACES[model])


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _listed(names: Iterable[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def _colon(text: str) -> str:
    return f": {text}" if text else ""
