"""A queue as it may look on an ordinary day, an outage of one vendor an hour ago included: for pictures and for axe."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from notifications.channel import Channel, Priority
from notifications.models import Client, Notification, OperatorAction, OutcomeTally, Worker
from notifications.models.operator_action import Action, ActorKind
from notifications.status import Status, WaitingReason
from notifications.verdict import Outcome
from tests.support.factories import AttemptFactory, NotificationFactory, ago
from tests.support.webhook_rows import an_endpoint, some_events
from webhooks.status import EventStatus

_MINUTE = 60
_OUTAGE = range(14, 22)  # minutes ago
_UNCONFIRMED = 6
_NAMES = ("ada", "grace", "edsger", "barbara", "alan", "radia", "donald", "frances", "tim", "hedy", "niklaus", "sophie")
_REFUSED = "the vendor is busy and did not accept the message"


def seed() -> Notification:
    """Fill the empty tables; returns the notification with the longest story."""
    shop, bank = (Client.objects.create(name=name) for name in ("web shop", "bank"))
    _workers()
    _tallies()
    _sent(shop)
    _waiting(shop, bank)
    _dead(shop, bank)
    _webhooks(shop)
    return _story(shop)


def _workers() -> None:
    for number, (host, busy, done) in enumerate((("app-1", 5, 40_213), ("app-1", 3, 39_871), ("app-2", 8, 41_007))):
        Worker.objects.create(
            id=f"{host}:delivery:{number}",
            role="delivery",
            host=host,
            pid=2200 + number,
            seat_count=16,
            held_count=busy,
            finished_count=done,
            started_at=ago(90_000),
            progressed_at=ago(0.2),
        )
    Worker.objects.create(id="app-2:q", role="quarantine", host="app-2", pid=2301, seat_count=1, started_at=ago(90_000))


def _tallies() -> None:
    """A busy hour, in which a provider refused everything for eight minutes."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    chance = random.Random(1)
    rows = []
    for minute in range(1, 59):
        load = 900 + 250 * math.sin(minute / 7) + 90 * math.sin(minute * 1.7)
        is_down = minute in _OUTAGE
        counts = {
            (Status.SENT, Channel.EMAIL): load * (0.12 if is_down else 1),
            (Status.SENT, Channel.SMS): load / 4,
            (Status.FAILED, Channel.EMAIL): chance.choice((0, 0, 1, 1, 2, 3)),
            (Status.DEAD_LETTERED, Channel.EMAIL): 1 if is_down else 0,
            (Status.DEAD_LETTERED, Channel.SMS): 1 if minute == _UNCONFIRMED else 0,
        }
        rows += [
            OutcomeTally(
                at=now - timedelta(minutes=minute), span_seconds=_MINUTE, status=status, channel=channel, count=count
            )
            for (status, channel), count in counts.items()
            if int(count) > 0
        ]
    OutcomeTally.objects.bulk_create(rows)


def _sent(client: Client) -> None:
    for number, name in enumerate(_NAMES):
        at = ago(9 - number / 2)
        row = NotificationFactory(
            client=client,
            status=Status.SENT,
            recipient=f"{name}@example.com",
            reference=f"order-{1040 + number}",
            send_at=at,
            created_at=at,
            finished_at=at + timedelta(seconds=0.3),
            content__subject="Your order is on its way",
        )
        started_at = at + timedelta(milliseconds=20 + 15 * number)
        AttemptFactory(notification=row, started_at=started_at, finished_at=row.finished_at, provider="sandbox")


def _waiting(shop: Client, bank: Client) -> None:
    for number in range(6):
        NotificationFactory(client=shop, send_at=ago(-3600 * (number + 1)), recipient=f"{_NAMES[number]}@example.com")
        NotificationFactory(client=bank, channel=Channel.SMS, priority=Priority.HIGH, send_at=ago(0.5))
    for number in range(3):
        NotificationFactory(
            client=shop,
            priority=Priority.LOW,
            recipient="hedy@example.com",
            due_at=ago(-1800 * (number + 1)),
            waiting_reason=WaitingReason.RATE_LIMITED,
        )
    NotificationFactory.create_batch(3, client=bank, status=Status.PROCESSING, channel=Channel.PUSH)


def _dead(shop: Client, bank: Client) -> None:
    for number, name in enumerate(_NAMES[: len(_OUTAGE)]):
        row = NotificationFactory(
            client=shop,
            status=Status.DEAD_LETTERED,
            recipient=f"{name}@example.com",
            reference=f"order-{1010 + number}",
            last_error_code="not_accepted",
            last_error_message=_REFUSED,
            last_used_provider="sandbox",
            **_gave_up(_MINUTE * _OUTAGE[number]),
        )
        AttemptFactory(
            notification=row,
            outcome=Outcome.TEMPORARY,
            error_code="not_accepted",
            error_message=_REFUSED,
            number=6,
            finished_at=row.finished_at,
        )
    NotificationFactory(
        client=bank,
        status=Status.DEAD_LETTERED,
        channel=Channel.SMS,
        last_error_code="UNCONFIRMED",
        last_error_message="the answer was lost; it may have been sent",
        unconfirmed_provider="sandbox",
        attempt_count=1,
        **_gave_up(_MINUTE * _UNCONFIRMED),
    )
    for number in range(2):
        NotificationFactory(
            client=bank,
            status=Status.FAILED,
            channel=Channel.SMS,
            last_error_code="recipient_rejected",
            last_error_message="the number is not in use",
            **_gave_up(900 + number),
        )


def _gave_up(seconds_ago: float) -> dict[str, datetime]:
    began = ago(seconds_ago + 25)
    return {"send_at": began, "created_at": began, "finished_at": ago(seconds_ago)}


def _webhooks(client: Client) -> None:
    good = an_endpoint("https://hooks.example.com/notifications", client=client, description="shop floor")
    bad = an_endpoint("https://old.example.com/hook", client=client, description="old shop", failing_since=ago(5000))
    some_events(good, 8, status=EventStatus.DELIVERED, attempt_count=1, last_response_status=200)
    some_events(bad, 3, attempt_count=4, last_response_status=503)


def _story(client: Client) -> Notification:
    """Refused three times, retried by an operator, sent."""
    began = ago(1300)
    row = NotificationFactory(
        client=client,
        status=Status.SENT,
        recipient="joan@example.com",
        reference="order-1009",
        idempotency_key="order-1009-shipped",
        send_at=began,
        created_at=began,
        finished_at=began + timedelta(seconds=604),
        max_attempts=3,
        operator_retry_count=1,
        content__subject="Your order 1009 is on its way",
        content__body="Hello Joan,\n\nyour order has left our house today.\n\nThe web shop",
        content__metadata={"shop": "zurich"},
    )
    for number, second in enumerate((0, 2, 6), 1):
        at = began + timedelta(seconds=second)
        AttemptFactory(
            notification=row,
            number=number,
            outcome=Outcome.TEMPORARY,
            error_code="not_accepted",
            error_message=_REFUSED,
            started_at=at,
            finished_at=at + timedelta(milliseconds=140),
            worker_id="app-1:delivery:0",
        )
    OperatorAction.objects.create(
        notification=row,
        action=Action.RETRY,
        actor_kind=ActorKind.USER,
        actor="operator",
        reason="the vendor is back",
        status_before=Status.DEAD_LETTERED,
        created_at=began + timedelta(seconds=600),
    )
    AttemptFactory(
        notification=row,
        cycle=2,
        provider_message_id=f"{uuid4()}",
        started_at=began + timedelta(seconds=603),
        finished_at=row.finished_at,
        worker_id="app-2:delivery:2",
    )
    return row
