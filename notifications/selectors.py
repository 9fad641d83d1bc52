"""Reading: what clients and operators may see, and what the workers look up beside the queue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Count, F, Max, Min, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast, Greatest, Now

from notifications.breaker import BreakerState
from notifications.channel import Channel, Priority
from notifications.errors import NotFound
from notifications.models import (
    Client,
    Control,
    ControlAct,
    Notification,
    OperatorAction,
    Pause,
    ProviderHealth,
    ProviderPace,
)
from notifications.pausing import PauseScope
from notifications.receipts import DeliveryStatus
from notifications.receipts.status import trouble
from notifications.status import Status
from notifyq import secrets
from ratelimits.models import Gate

UNREADABLE_SMTP_URL = "unreadable:"
"""Stands for a relay whose stored address none of the encryption keys opens. No adapter takes it for an address, so
that nothing is sent through another relay instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationFilter:
    """What a list is narrowed to; None and empty mean everything.

    `created_after` is inclusive and `created_before` exclusive, so that neighbouring windows neither overlap nor gap.
    """

    statuses: Sequence[Status] = ()
    channel: Channel | None = None
    priority: Priority | None = None
    recipient: str | None = None
    reference: str | None = None
    user_id: str | None = None
    group_id: UUID | None = None
    error_code: str | None = None
    delivery_status: DeliveryStatus | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


def database_now() -> datetime:
    """The time that counts: PostgreSQL's, also inside a long transaction of the caller's."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        return cast("datetime", cursor.fetchone()[0])


def waiting_to_be_asked_about() -> tuple[int, datetime | None]:
    """How many are RECONCILING, those that are being asked about too, and when the next is due; an index knows them."""
    found = Notification.objects.filter(status=Status.RECONCILING).aggregate(count=Count("id"), due_at=Min("due_at"))
    return found["count"], found["due_at"]


def one(notification_id: UUID, client: Client | None) -> Notification:
    """One notification with its content.

    Args:
        client: whose it must be; None for an operator.

    Raises:
        NotFound: there is none, or it is another client's.
    """
    found = _visible(client).select_related("content").filter(pk=notification_id).first()
    if found is None:
        raise NotFound("there is no such notification")
    return found


def by_ids(ids: Sequence[UUID]) -> list[Notification]:
    """Those of any client, with it, in this order; without those that do not exist."""
    found = Notification.objects.filter(id__any=ids).select_related("client") if ids else ()
    rows = {row.pk: row for row in found}
    return [rows[identity] for identity in dict.fromkeys(ids) if identity in rows]


def last_act_ids(ids: Collection[UUID]) -> dict[UUID, int]:
    """The id of the last act on each of the notifications, without those that nobody has acted on.

    Index: that of `OperatorAction.notification`.
    """
    acts = OperatorAction.objects.filter(notification__in=ids).order_by()
    return dict(acts.values_list("notification").annotate(Max("pk")))


def by_idempotency_keys(client: Client, keys: Collection[str]) -> dict[str, list[Notification]]:
    """The notifications that belong to the client's keys, with their content; those of a group in order."""
    found: dict[str, list[Notification]] = {}
    if keys:
        rows = _visible(client).filter(idempotency_key__in=sorted(keys)).select_related("content")
        for row in rows.order_by("idempotency_key", "target_index"):
            found.setdefault(row.idempotency_key, []).append(row)
    return found


def listed(client: Client | None, wanted: NotificationFilter) -> QuerySet[Notification]:
    """Notifications that match, to be ordered and cut by id; only the parts of the content that a list shows.

    Args:
        client: whose they are; None for an operator, who sees all.
    """
    rows = _visible(client).filter(**_conditions(wanted)).select_related("content")
    return rows.only(*_QUEUE_COLUMNS, "content__subject", "content__metadata")


def client_ids() -> list[UUID]:
    """All clients. There are few, and every index on labels begins with the client."""
    return list(Client.objects.values_list("pk", flat=True))


def sender_settings(client_ids: Collection[UUID]) -> dict[UUID, dict[str, str]]:
    """The own sending settings of those of the clients that have any.

    Returns:
        By client id: `smtp_url` (decrypted; `UNREADABLE_SMTP_URL` when no key opens it) and `email_from`, each only
        where it is set. Repeatable; one query.
    """
    rows = Client.objects.filter(pk__in=client_ids).exclude(smtp_url_encrypted="", email_from="")
    return {
        pk: _sender(token, email_from)
        for pk, token, email_from in rows.values_list("pk", "smtp_url_encrypted", "email_from")
    }


def active_pauses(client: Client | None = None) -> QuerySet[Pause]:
    """The pauses in force, the oldest first; that of a client knows its name.

    Args:
        client: leave out those of other clients; None for an operator, who sees all.
    """
    active = Pause.objects.filter(ended_at=None).order_by("created_at", "pk")
    # The stubs take what the model declares of it for another field.
    active = active.annotate(client_name=client_name_of("value"))  # type: ignore[no-redef]
    return active if client is None else active.exclude(~Q(value=str(client.pk)), scope=PauseScope.CLIENT)


def client_name_of(column: str) -> Subquery:
    """The name of the client whose id a column holds as text; null where it holds none. There are few clients."""
    known = Client.objects.annotate(id_text=Cast("pk", TextField()))
    return Subquery(known.filter(id_text=OuterRef(column)).values("name")[:1])


def with_client_name(pause: Pause) -> Pause:
    """The same pause, which then knows the name of its client."""
    if pause.scope == PauseScope.CLIENT:
        pause.client_name = Client.objects.filter(pk=pause.value).values_list("name", flat=True).first()
    return pause


@dataclass(frozen=True, slots=True)
class BreakerView:
    """The breaker of one provider on one channel, and how fast that may be called.

    Attributes:
        row: not stored while it was never anything but closed.
        throttled_until: it asked not to be called before; None when it did not.
        rate_per_second: its own rate, over all workers; None when it has none.
    """

    row: ProviderHealth
    throttled_until: datetime | None
    rate_per_second: float | None


def breakers() -> list[BreakerView]:
    """Of every channel and provider in use, in the order of the chains; then those that are open and in no chain."""
    chains = settings.NOTIFYQ.provider_chains
    rows = {(row.channel, row.provider): row for row in ProviderHealth.objects.all()}
    used = [(str(channel), name) for channel, chain in chains.items() for name in chain]
    left = [key for key, row in rows.items() if key not in used and row.state != BreakerState.CLOSED]
    resting = _resting()
    rates = settings.NOTIFYQ.provider_rates
    return [
        BreakerView(
            rows.get((channel, name)) or ProviderHealth(channel=channel, provider=name),
            resting.get(name),
            rates.get(name),
        )
        for channel, name in [*used, *left]
    ]


def breaker(channel: Channel, provider: str) -> BreakerView:
    """One of them; closed when nothing is known of it."""
    row = ProviderHealth.objects.filter(channel=channel, provider=provider).first()
    return breaker_of(row or ProviderHealth(channel=channel, provider=provider))


def breaker_of(row: ProviderHealth) -> BreakerView:
    """The one that the row is of, also when it has left its chain."""
    return BreakerView(row, _resting().get(row.provider), settings.NOTIFYQ.provider_rates.get(row.provider))


def is_tripped(channel: str, provider: str) -> bool:
    """Whether an operator keeps it out of use."""
    return ProviderHealth.objects.filter(channel=channel, provider=provider, tripped=True).exists()


def has_breaker(channel: Channel, provider: str) -> bool:
    """Whether anything was ever noted of it."""
    return ProviderHealth.objects.filter(channel=channel, provider=provider).exists()


def _resting() -> dict[str, datetime]:
    rows = ProviderPace.objects.filter(throttled_until__gt=Now())
    return {provider: until for provider, until in rows.values_list("provider", "throttled_until") if until}


def control_acts(control: Control, name: str = "") -> QuerySet[ControlAct]:
    """What people did to breakers, pauses or limits, the newest first; of one by its name, or of all of the kind."""
    acts = ControlAct.objects.filter(control=control).order_by("-pk")
    return acts.filter(name=name) if name else acts


def _sender(token: str, email_from: str) -> dict[str, str]:
    try:
        smtp_url = secrets.decrypt(token) if token else ""
    except secrets.Unreadable:
        smtp_url = UNREADABLE_SMTP_URL
    return {name: value for name, value in (("smtp_url", smtp_url), ("email_from", email_from)) if value}


def set_expected(rows: Iterable[Any]) -> None:
    """Give each of a page's rows `expected_at`: behind a full rate limit that is when the next slot is expected. One
    query at most; a list that annotated it would also ask for each row that it only counts."""
    buckets = {row.parked_by for row in rows if row.parked_by is not None}
    gates = dict(Gate.objects.filter(bucket__in=buckets).values_list("bucket", "release_at")) if buckets else {}
    for row in rows:
        released_at = gates.get(row.parked_by) if row.parked_by is not None else None
        row.expected_at = row.due_at if released_at is None else max(released_at, row.due_at)


def _visible(client: Client | None) -> QuerySet[Notification]:
    """The client's rows, each with `expected_at`: behind a full rate limit that is when the next slot is expected."""
    rows = Notification.objects.all() if client is None else Notification.objects.filter(client=client)
    release_at = Gate.objects.filter(bucket=OuterRef("parked_by")).values("release_at")
    return rows.annotate(expected_at=Greatest(Subquery(release_at), F("due_at")))


def _conditions(wanted: NotificationFilter) -> dict[str, object]:
    conditions: dict[str, object] = {
        "status__in": list(wanted.statuses) or None,
        "channel": wanted.channel,
        "priority": wanted.priority,
        "recipient": wanted.recipient,
        "reference": wanted.reference,
        "user_id": wanted.user_id,
        "group_id": wanted.group_id,
        "last_error_code": wanted.error_code,
        # Trouble has a column of its own with an index: `notification_trouble`.
        "reported_trouble" if trouble(wanted.delivery_status) else "delivery_status": wanted.delivery_status,
        "created_at__gte": wanted.created_after,
        "created_at__lt": wanted.created_before,
    }
    return {name: value for name, value in conditions.items() if value is not None}


_QUEUE_COLUMNS = tuple(f.name for f in Notification._meta.concrete_fields)
