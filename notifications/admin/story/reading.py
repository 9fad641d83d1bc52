"""What the rows tell of one notification; each look is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from notifications import heartbeats, selectors
from notifications.channel import Channel, OnUnconfirmed
from notifications.models import Attempt, LookUp, Notification, OperatorAction, Pause, Receipt, Worker
from notifications.outages import Outages
from notifications.pausing import Pauses, PauseScope, usable_providers
from notifications.providers import registry
from notifications.reconciliation import NOT_ASKABLE, NOT_ASKABLE_SECONDS
from notifications.status import Status
from notifications.story.why import ActFacts, Facts, PauseFacts

SHOWN_MOST = 200
"""Of attempts, and of each other kind of row: the newest."""


@dataclass(frozen=True, slots=True)
class History:
    """The rows that belong to one notification, the oldest first.

    Attributes:
        look_ups: what its provider said when it was asked.
        receipts: what its provider reported later.
        is_cut: there are older ones.
    """

    attempts: Sequence[Attempt]
    actions: Sequence[OperatorAction]
    look_ups: Sequence[LookUp]
    receipts: Sequence[Receipt]
    is_cut: bool


def read_history(row: Notification) -> History:
    """At most `SHOWN_MOST` of each."""
    attempts, actions, look_ups, receipts = (
        _newest(row, name) for name in ("attempts", "operator_actions", "look_ups", "receipts")
    )
    is_cut = any(len(rows) == SHOWN_MOST for rows in (attempts, actions, look_ups, receipts))
    return History(attempts, actions, look_ups, receipts, is_cut)


def read_facts(row: Notification, history: History, now: datetime, outages: Outages) -> Facts:
    """How it stands.

    Args:
        row: with `selectors.set_expected`.
        now: by the database's clock.
        outages: of the same moment, unless it does not wait.
    """
    waits = row.status == Status.PENDING
    last = history.actions[-1] if history.actions else None
    is_askable = _is_askable(row, history.look_ups)
    return Facts(
        status=Status(row.status),
        due_at=row.due_at,
        changed_at=row.updated_at,
        waiting_reason=outages.reason(row),
        expected_at=None if row.parked_by is None else getattr(row, "expected_at", None),
        expires_at=row.expires_at,
        finished_at=row.finished_at,
        attempt_count=row.attempt_count,
        max_attempts=row.max_attempts,
        error_code=row.last_error_code,
        error_message=row.last_error_message,
        provider=row.provider,
        last_used_provider=row.last_used_provider,
        provider_message_id=row.provider_message_id,
        unconfirmed_provider=row.unconfirmed_provider,
        is_suspect=row.suspect,
        worker_id=row.worker_id,
        lease_expires_at=row.lease_expires_at,
        sending_provider=row.sending_provider,
        pause=_pause(row) if waits else None,
        outage=outages.of(Channel(row.channel), row.recipient, row.unconfirmed_provider),
        asked_at=row.reconciled_at,
        asked_count=row.look_up_count,
        is_askable=is_askable,
        decided_at=_decided_at(row, is_askable=is_askable),
        on_unconfirmed=OnUnconfirmed(row.on_unconfirmed),
        workers_alive=_count_alive(row, now) if waits else 0,
        last_act=ActFacts(last.action, last.actor, last.created_at) if last else None,
    )


def _is_askable(row: Notification, look_ups: Sequence[LookUp]) -> bool:
    """As far as is known here: whether its look-ups are on, only the workers know, and say so when they have tried."""
    in_chain = row.unconfirmed_provider in settings.NOTIFYQ.provider_chains.get(Channel(row.channel), ())
    return in_chain and not (look_ups and look_ups[-1].error_code == NOT_ASKABLE)


def _decided_at(row: Notification, *, is_askable: bool) -> datetime | None:
    if row.status != Status.RECONCILING or row.unconfirmed_at is None:
        return None
    lookup = registry.usual_lookup(row.unconfirmed_provider)
    if not is_askable:
        return row.unconfirmed_at + timedelta(seconds=NOT_ASKABLE_SECONDS)
    return row.unconfirmed_at + timedelta(seconds=lookup.horizon_seconds) if lookup else None


def _newest(row: Notification, name: str) -> list[Any]:
    return list(getattr(row, name).reverse()[:SHOWN_MOST])[::-1]


def _pause(row: Notification) -> PauseFacts | None:
    """The pause it is parked under; of one that is not parked, the one that would keep it."""
    in_force = list(selectors.active_pauses())
    channel = Channel(row.channel)
    usable = usable_providers(settings.NOTIFYQ.provider_chains.get(channel, ()), row.unconfirmed_provider)
    pauses = Pauses({(pause.scope, pause.value): pause.parking_id for pause in in_force})
    keeping = row.parked_by or pauses.keeping(channel=channel, client_id=row.client_id, providers=usable)
    found = next((pause for pause in in_force if pause.parking_id == keeping), None)
    return None if found is None else PauseFacts(_what(found, row), found.created_by, found.created_at, found.reason)


def _what(pause: Pause, row: Notification) -> str:
    match pause.scope:
        case PauseScope.CHANNEL:
            return pause.value
        case PauseScope.PROVIDER:
            return f"provider {pause.value}"
        case PauseScope.CLIENT:
            return f"client {row.client}"
    return "everything"


def _count_alive(row: Notification, now: datetime) -> int:
    """Those that would take it, heard of just now: a dispatcher of webhooks sends nothing."""
    role = heartbeats.QUARANTINE if row.suspect else heartbeats.DELIVERY
    since = now - timedelta(seconds=heartbeats.late_after_seconds())
    return Worker.objects.filter(role=role, beat_at__gte=since).count()
