"""What notifications wait for, as the tables say it now: for the lists that show it and for the acts on what waits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import DateTimeField, Q, Value
from django.db.models.functions import Now

from notifications.breaker import BreakerState
from notifications.channel import Channel
from notifications.models import Pause, ProviderHealth, ProviderPace
from notifications.outages import NO_OUTAGES, Outage, Outages
from notifications.pausing import PauseScope
from notifications.providers.chains import is_served
from notifications.request.recipients import PUSH_PREFIXES
from notifications.status import Status, WaitingReason

_NOBODY = Q(pk=None)


def outages() -> Outages:
    """What keeps notifications that are due: one query on tables of a handful of rows; two while something is out."""
    shut = ProviderHealth.objects.exclude(state=BreakerState.CLOSED).order_by()
    resting = ProviderPace.objects.filter(throttled_until__gt=Now()).order_by()
    no_time = Value(None, output_field=DateTimeField())
    found = list(
        shut.values_list("channel", "provider", "tripped", "failing_since", "probe_due_at", Now()).union(
            resting.values_list(Value(""), "provider", Value(False), no_time, "throttled_until", Now()), all=True
        )
    )
    if not found:
        return NO_OUTAGES
    rests = {name: until for channel, name, _, _, until, _ in found if not channel}
    opened = {(row[0], row[1]): row[2:5] for row in found if row[0]}
    chains = settings.NOTIFYQ.provider_chains
    pairs = [(channel, name) for channel, chain in chains.items() for name in chain]
    out = {key: _outage(opened.get(key), rests.get(key[1])) for key in pairs}
    paused = Pause.objects.filter(ended_at=None, scope=PauseScope.PROVIDER).values_list("value", flat=True)
    return Outages(
        found[0][5], {key: outage for key, outage in out.items() if outage is not None}, frozenset(paused), serving
    )


def waits_for(reason: WaitingReason) -> Q:
    """Those that wait for this now, as the lists show it: what stands in the row, unless no provider could take it.

    Asks what is out of use. Good for one statement or two: the next moment it may be another.
    """
    stored, kept = Q(waiting_reason=reason), _kept_now(outages())
    return stored | kept if reason is WaitingReason.PROVIDER_UNAVAILABLE else stored & ~kept


def serving(channel: Channel, recipient: str) -> Sequence[str]:
    """The names of the chain's providers that serve an address, as far as can be said without building them."""
    names = settings.NOTIFYQ.provider_chains.get(channel, ())
    return [n for n in names if is_served((n,), recipient)] if channel is Channel.PUSH else names


def _kept_now(outages: Outages) -> Q:
    """Those of which `outages.keeping` says the same one by one."""
    if outages.now is None:
        return _NOBODY
    kept = _NOBODY
    for channel, chain in settings.NOTIFYQ.provider_chains.items():
        for kind in PUSH_PREFIXES if channel is Channel.PUSH else ("",):
            kept |= _kept(outages, channel, kind, chain)
    return Q(status=Status.PENDING, parked_by=None, due_at__lte=Now()) & kept


def _kept(outages: Outages, channel: Channel, kind: str, chain: tuple[str, ...]) -> Q:
    """Of a channel's addresses that begin with `kind`, which all the same providers serve."""
    bound = [name for name in chain if outages.of(channel, kind, name) is not None]
    kept = Q(unconfirmed_provider__in=bound)
    if outages.of(channel, kind) is not None:
        kept |= ~Q(unconfirmed_provider__in=chain)
    return Q(channel=channel, recipient__startswith=kind) & kept


def _outage(opened: tuple[bool, datetime, datetime | None] | None, rest: datetime | None) -> Outage | None:
    if opened is None:
        return None if rest is None else Outage(None, rest)
    is_tripped, since, probe_at = opened
    if is_tripped or probe_at is None:
        return Outage(since, None)
    return Outage(since, max(probe_at, rest or probe_at))
