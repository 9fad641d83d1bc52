"""By what notifications wait for, as the list shows it: also those that are due and that no provider could take."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from notifications import selectors
from notifications.channel import Channel
from notifications.models import Notification
from notifications.outages import Outages
from notifications.request.recipients import PUSH_PREFIXES
from notifications.status import Status, WaitingReason

_NOBODY = Q(pk=None)


class WaitingFilter(admin.SimpleListFilter):
    """By the reason that the list shows."""

    title = "waiting reason"
    parameter_name = "waiting_reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(reason.value, reason.value) for reason in WaitingReason]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Notification]) -> QuerySet[Notification]:
        if self.value() not in set(WaitingReason):
            return queryset
        stored, kept = Q(waiting_reason=self.value()), kept_now(selectors.outages())
        return queryset.filter(stored | kept if self.value() == WaitingReason.PROVIDER_UNAVAILABLE else stored & ~kept)


def kept_now(outages: Outages) -> Q:
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
