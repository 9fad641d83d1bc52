"""What the demo left waiting is cancelled where it would reach somebody now; nothing else is."""

import pytest

from notifications.channel import Channel
from notifications.models import Client, Notification, OperatorAction
from notifications.status import Status
from notifyq.up import demo, leftovers
from tests.support.factories import ClientFactory, NotificationFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo_client():
    return Client.objects.create(name="demo")


def statuses(ids):
    found = dict(Notification.objects.filter(pk__in=ids).values_list("pk", "status"))
    return [found[identity] for identity in ids]


def leave(client, **fields):
    return NotificationFactory(client=client, **fields).pk


def test_leftovers__of_a_channel_that_reaches_somebody__are_cancelled_with_a_reason(demo_client):
    waiting = [
        leave(demo_client, recipient="grace@example.com", idempotency_key="demo-5"),
        leave(demo_client, recipient="news@example.com", idempotency_key="demo-26", waiting_reason="RATE_LIMITED"),
        leave(demo_client, recipient="first-0011aabb@example.com", idempotency_key="demo-first-1"),
    ]
    text = leave(demo_client, channel=Channel.SMS, recipient="+12025550143", idempotency_key="demo-7")

    assert leftovers.cancel([Channel.EMAIL]) == 3
    assert leftovers.cancel([Channel.EMAIL]) == 0
    assert statuses(waiting) == [Status.CANCELLED] * 3
    assert statuses([text]) == [Status.PENDING]
    acts = OperatorAction.objects.filter(notification__in=waiting)
    assert set(acts.values_list("actor", "reason")) == {("manage.py up", leftovers.REASON)}


@pytest.mark.parametrize(
    "change",
    [
        {"recipient": "ada@shop.example"},
        {"idempotency_key": "order-5"},
        {"client": None},
        {"unconfirmed_provider": "sandbox", "attempt_count": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_leftovers__not_certainly_the_demos_or_perhaps_sent__are_left_alone(demo_client, change):
    given = {"client": demo_client, "recipient": "grace@example.com", "idempotency_key": "demo-5"} | change
    client = given.pop("client") or ClientFactory()
    identity = leave(client, **given)

    assert leftovers.cancel(Channel) == 0
    assert statuses([identity]) == [Status.PENDING]


def test_leftovers__all_that_a_first_start_sends__would_be_found(demo_client):
    bodies = demo.bodies(Channel, 10)
    for body in bodies:
        key, channel = body["idempotencyKey"], Channel(body["channel"])
        leave(demo_client, channel=channel, recipient=body["recipient"], idempotency_key=key)

    assert leftovers.cancel(Channel) == len(bodies)
