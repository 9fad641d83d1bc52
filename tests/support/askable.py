"""A provider for tests that says what it is told to say when it is asked, and notes every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from django.db import connection

from notifications.channel import Channel
from notifications.delivery.reconciler import Reconciler
from notifications.models import LookUp, Notification
from notifications.providers.base import Capabilities, FoundBy, Lookup, Message, Provider, ProviderSettings
from notifications.providers.chains import Chain, Chains
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Finding, Verdict
from tests.support.rows import add, claim, database_now, move

HORIZON_SECONDS = 1000.0


class Askable(Provider):
    """`says` is what it answers, or a function of the message that is asked about."""

    kind = "askable"
    channels = frozenset(Channel)

    def __init__(
        self,
        says: Finding | Callable[[Message], Finding],
        name: str = "p",
        *,
        can_be_asked: bool = True,
        dedupe_window_seconds: float | None = None,
    ) -> None:
        lookup = Lookup(FoundBy.KEY, settle_seconds=2.0, horizon_seconds=HORIZON_SECONDS) if can_be_asked else None
        super().__init__(name, Capabilities(dedupe_window_seconds, lookup))
        self.says = says
        self.asked: Counter[UUID] = Counter()
        self.last: tuple[Message, datetime, float] | None = None

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        raise NotImplementedError

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        raise NotImplementedError

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        self.asked[message.id] += 1
        self.last = message, since, timeout_seconds
        return self.says(message) if callable(self.says) else self.says


def chains_of(*providers: Provider) -> Chains:
    return dict.fromkeys(Channel, Chain(providers))


def reconciler(*providers: Provider, worker_id: str = "asker", timeout_seconds: float = 1.0) -> Reconciler:
    return Reconciler(
        worker_id, chains_of(*providers), Backoff(2.0, 600.0), timeout_seconds=timeout_seconds, poll_seconds=0.05
    )


def in_doubt(count: int = 1, *, provider: str = "p", age_seconds: float = 10.0, **fields: Any) -> list[UUID]:
    """Notifications whose only send had no answer from that provider, due to be asked about."""
    ids = add(count, **fields)
    columns = {
        "status": Status.RECONCILING,
        "attempt_count": 1,
        "unconfirmed_provider": provider,
        "last_used_provider": provider,
        "last_error_code": "read_timeout",
    }
    Notification.objects.filter(pk__in=ids).update(**columns)
    for identity in ids:
        move(identity, unconfirmed_at=-age_seconds, due_at=-1)
    return ids


def said(notification_id: UUID) -> list[tuple[str, str, int]]:
    """(found, error code, how often) of its history of questions."""
    rows = LookUp.objects.filter(notification=notification_id)
    return list(rows.values_list("found", "error_code", "asked_count"))


def due_in_seconds(notification_id: UUID) -> float:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM due_at - now())::float8 FROM notifications_notification WHERE id = %s",
            [notification_id],
        )
        return float(cursor.fetchone()[0])


def is_put_off(notification_id: UUID, seconds: float, *, since: datetime) -> bool:
    """Whether it is due so long after an act that came between `since`, by the database's clock, and now."""
    without: datetime = Notification.objects.get(pk=notification_id).due_at - timedelta(seconds=seconds)
    return bool(since <= without <= database_now())


def claimed_now() -> list[UUID]:
    return [row.id for row in claim(limit=100)]
