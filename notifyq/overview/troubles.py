"""What the block of things that need attention is made of: a few looks, each bounded, however big the tables are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from notifications.channel import Channel, Priority
from notifications.models import Client, Pause
from notifications.outcome import NOT_DELIVERED
from notifications.pausing import PauseScope
from notifications.providers.registry import usual_lookup
from notifications.status import Status
from notifyq.overview.endpoints import Failing, count_missed, failing

COUNTED_MOST = 2_000
"""How many of a status are counted that ended undelivered within the last hour."""
LOOKED_MOST = 10_000
"""How many are looked at for that: those that an operator has just marked as not delivered are no news to anybody."""
UNCONFIRMED_SECONDS = 300.0
"""Providers mostly know within a minute or two what became of a send; what is in doubt for longer is told."""
SETTLINGS = 2
"""Where a provider settles slowly, it is told after so many of its settling times: one, and some questions."""
PAUSES_MOST = 20
KEPT_MOST = 1_000
"""Of so many pauses it is counted what they keep, of each so many."""
RECEIPTS_MOST = 1_000
ENDPOINTS_MOST = 5
FAILING_SECONDS = 60.0
"""An endpoint that fails for longer is told of."""

# Index notification_claim, its first entry for each rank; then one row of each of two tables.
_OLDEST_DUE = """
SELECT oldest.id, client.name, oldest.channel, oldest.due_at, extract(epoch FROM now() - oldest.due_at)::float8
  FROM unnest(%(priorities)s::int[]) AS p
 CROSS JOIN LATERAL (
       SELECT id, client_id, channel, due_at FROM notifications_notification
        WHERE status = 'PENDING' AND NOT suspect AND parked_by IS NULL AND rank = p AND due_at <= now()
        ORDER BY due_at LIMIT 1) AS oldest
  JOIN notifications_client AS client ON client.id = oldest.client_id
 ORDER BY oldest.due_at LIMIT 1
"""
# Index notification_undelivered alone, from its end. The status stands in the text, so that the index is found.
_ENDED = """
SELECT channel, last_used_provider, last_error_code, client_id, count(*), min(finished_at) FROM (
       SELECT channel, last_used_provider, last_error_code, client_id, finished_at
         FROM (SELECT id, channel, last_used_provider, last_error_code, client_id, finished_at
                 FROM notifications_notification WHERE status = '{status}' AND finished_at > now() - interval '1 hour'
                ORDER BY finished_at DESC, id DESC LIMIT %(looked)s) AS ended
        WHERE last_error_code <> %(decided)s ORDER BY finished_at DESC, id DESC LIMIT %(most)s) AS latest
 GROUP BY 1, 2, 3, 4
"""
# Index notification_undelivered, from the oldest; then one row of the answers for each provider.
_UNCONFIRMED = """
SELECT late.*, said.found, said.error_code, said.error_message FROM (
       SELECT provider, string_agg(DISTINCT channel, ' and '), count(*), min(unconfirmed_at),
              mode() WITHIN GROUP (ORDER BY client_id), count(DISTINCT client_id) - 1,
              (array_agg(id ORDER BY unconfirmed_at, id))[1] AS oldest_id
         FROM (SELECT id, unconfirmed_provider AS provider, channel, client_id, unconfirmed_at
                 FROM notifications_notification WHERE status = 'RECONCILING'
                ORDER BY finished_at, id LIMIT %(most)s) AS oldest
         LEFT JOIN unnest(%(slow)s::text[], %(seconds)s::float8[]) AS slow(name, seconds) ON slow.name = provider
        WHERE unconfirmed_at < now() - make_interval(secs => coalesce(slow.seconds, %(usual)s))
        GROUP BY provider) AS late
  LEFT JOIN LATERAL (
       SELECT found, error_code, error_message FROM notifications_lookup
        WHERE notification_id = late.oldest_id ORDER BY last_asked_at DESC LIMIT 1) AS said ON TRUE
 ORDER BY late.provider
"""
# Index notification_parked, from its entry for each pause; and the rows, for whose they are.
_KEPT = """
SELECT p, kept.client_id, count(*) FROM unnest(%(pauses)s::uuid[]) AS p
 CROSS JOIN LATERAL (
       SELECT client_id FROM notifications_notification WHERE parked_by = p ORDER BY rank, due_at, id
        LIMIT %(most)s) AS kept
 GROUP BY 1, 2
"""
# Endpoints are few.
_DISABLED = """
SELECT endpoint.id, client.name, endpoint.disabled_at, endpoint.disabled_reason, count(*) OVER ()
  FROM webhooks_webhookendpoint AS endpoint JOIN notifications_client AS client ON client.id = endpoint.client_id
 WHERE endpoint.disabled_reason <> '' AND endpoint.deleted_at IS NULL
 ORDER BY endpoint.disabled_at DESC LIMIT %(most)s
"""
# The primary key, from its end; and index receipt_waiting.
_RECEIPTS = """
SELECT (SELECT count(*) FROM (SELECT credited, received_at FROM notifications_receipt ORDER BY id DESC LIMIT %(most)s)
            AS latest WHERE NOT credited AND received_at > now() - interval '1 hour'),
       (SELECT count(*) FROM (
            SELECT received_at FROM notifications_receipt WHERE look_at IS NOT NULL ORDER BY look_at LIMIT %(most)s)
            AS waiting WHERE received_at < now() - interval '1 minute')
"""


@dataclass(frozen=True, slots=True)
class OldestDue:
    """What has been due for longest."""

    id: UUID
    client: str
    channel: Channel
    due_at: datetime
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """What ended with one status within the last hour.

    Attributes:
        channel, provider, error_code: the most common cause, and `cause_count` how many had it.
        client_id: whose most of them are; `client_count` more have some.
        is_bounded: there are more.
    """

    status: Status
    count: int
    since: datetime
    channel: str
    provider: str
    error_code: str
    cause_count: int
    client_id: UUID
    client_count: int

    @property
    def is_bounded(self) -> bool:
        return self.count >= COUNTED_MOST


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """What one provider has left in doubt for longer than is usual.

    Attributes:
        channels: in words.
        since: when the oldest was sent.
        client_id: whose most of them are; `client_count` more have some.
        found, error_code, error_message: what the provider said of the oldest when it was last asked; None: never.
    """

    provider: str
    channels: str
    count: int
    since: datetime
    client_id: UUID
    client_count: int
    oldest_id: UUID
    found: str | None
    error_code: str | None
    error_message: str | None

    @property
    def is_bounded(self) -> bool:
        return self.count >= COUNTED_MOST


@dataclass(frozen=True, slots=True)
class Kept:
    """What was due and waits until a pause ends; whose most of it is, and how many more clients have some."""

    count: int
    client_id: UUID
    client_count: int

    @property
    def is_bounded(self) -> bool:
        return self.count >= KEPT_MOST


@dataclass(frozen=True, slots=True)
class Disabled:
    """A webhook endpoint that the service has disabled; `count` of them in all."""

    id: UUID
    client: str
    at: datetime
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Troubles:
    """All of it.

    Attributes:
        kept: by pauses that keep something, by their ids.
        missed_count: the events that were cancelled for disabled endpoints.
        client_names: of whoever is named by an id.
    """

    oldest_due: OldestDue | None
    kept: Mapping[UUID, Kept]
    ended: Sequence[Ended]
    failing: Failing | None
    unconfirmed: Sequence[Unconfirmed]
    disabled: Sequence[Disabled]
    missed_count: int
    uncredited_count: int
    receipts_waiting_count: int
    client_names: dict[str, str]


def read_troubles(pauses: Sequence[Pause]) -> Troubles:
    """Args: pauses: those in force."""
    kept = _kept(pauses[:PAUSES_MOST])
    due = _rows(_OLDEST_DUE, priorities=[p.value for p in Priority])
    ended = [e for e in map(_ended, (Status.DEAD_LETTERED, Status.FAILED)) if e]
    unconfirmed = [Unconfirmed(*row) for row in _rows(_UNCONFIRMED, most=COUNTED_MOST, **_patience())]
    disabled = [Disabled(*row) for row in _rows(_DISABLED, most=ENDPOINTS_MOST)]
    ((uncredited, waiting),) = _rows(_RECEIPTS, most=RECEIPTS_MOST)
    named = {pause.value for pause in pauses if pause.scope == PauseScope.CLIENT}
    named |= {str(k.client_id) for k in kept.values()}
    named |= {*(str(e.client_id) for e in ended), *(str(u.client_id) for u in unconfirmed)}
    names = {str(pk): name for pk, name in Client.objects.filter(pk__in=named).values_list("pk", "name")}
    fails = failing(FAILING_SECONDS)
    missed = count_missed() if disabled else 0
    oldest = OldestDue(*due[0]) if due else None
    return Troubles(oldest, kept, ended, fails, unconfirmed, disabled, missed, uncredited, waiting, names)


def _kept(pauses: Sequence[Pause]) -> dict[UUID, Kept]:
    if not pauses:
        return {}
    parking_ids = {pause.parking_id: pause.pk for pause in pauses}
    counts: dict[UUID, dict[UUID, int]] = {}
    for parking_id, client_id, count in _rows(_KEPT, pauses=list(parking_ids), most=KEPT_MOST):
        counts.setdefault(parking_ids[parking_id], {})[client_id] = count
    return {
        pause_id: Kept(sum(of.values()), max(of, key=lambda client_id: of[client_id]), len(of) - 1)
        for pause_id, of in counts.items()
    }


def _patience() -> dict[str, Any]:
    """After how many seconds a doubt is told: usually, and of providers that take longer."""
    names = {name for chain in settings.NOTIFYQ.provider_chains.values() for name in chain}
    lookups = [(name, lookup) for name in sorted(names) if (lookup := usual_lookup(name))]
    slow = {name: most for name, lookup in lookups if (most := SETTLINGS * lookup.settle_seconds) > UNCONFIRMED_SECONDS}
    return {"usual": UNCONFIRMED_SECONDS, "slow": list(slow), "seconds": list(slow.values())}


def _ended(status: Status) -> Ended | None:
    causes: dict[tuple[str, str, str], int] = {}
    clients: dict[UUID, int] = {}
    since: datetime | None = None
    bounds = {"most": COUNTED_MOST, "looked": LOOKED_MOST, "decided": NOT_DELIVERED}
    for channel, provider, code, client_id, count, first in _rows(_ENDED.format(status=status), **bounds):
        causes[channel, provider, code] = causes.get((channel, provider, code), 0) + count
        clients[client_id] = clients.get(client_id, 0) + count
        since = first if since is None else min(since, first)
    if since is None:
        return None
    cause = max(causes, key=lambda key: causes[key])
    client_id = max(clients, key=lambda key: clients[key])
    return Ended(status, sum(causes.values()), since, *cause, causes[cause], client_id, len(clients) - 1)


def _rows(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
