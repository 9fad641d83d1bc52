"""Entries come into inboxes once, with the outcome of their notification or not at all; newer ones replace older."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from notifications import queue, services
from notifications.channel import Channel
from notifications.delivery.upkeep import safety_of
from notifications.models import Attempt, InboxEntry, Notification
from notifications.providers import chains
from notifications.queue import Claimer, Limits
from notifications.status import Status, WaitingReason
from notifyq.env import Config, Environment
from ratelimits.models import RateLimitRule, Slot
from ratelimits.window import Limit
from tests.support.inboxes import accepted, bodies, deliver, entry_ids, events, status
from tests.support.rows import a_client, add, claim, database_now, move
from tests.support.webhook_rows import an_endpoint

pytestmark = pytest.mark.django_db


def submit(client, body="Hello", **fields):
    request = {"channel": "IN_APP", "recipient": "ada", "idempotency_key": f"{body} {fields}"} | fields
    return services.submit(client=client, body=body, **request).notification.pk


def test_delivery__accepted__makes_the_entry_with_the_content_and_one_event():
    client = a_client()
    an_endpoint(client=client)
    pk = submit(client, subject="Title", data={"screen": "s"}, collapse_key="c", ttl_seconds=60)

    deliver()

    entry, row = InboxEntry.objects.get(), Notification.objects.get()
    assert (entry.notification_id, entry.client_id, entry.user_id) == (pk, client.pk, "ada")
    assert (entry.subject, entry.body, entry.data, entry.collapse_key) == ("Title", "Hello", {"screen": "s"}, "c")
    assert (entry.send_at, entry.expires_at, entry.read_at) == (row.send_at, row.expires_at, None)
    assert entry.id.version == 7
    assert (row.status, row.provider, row.provider_message_id) == (Status.SENT, "inbox", str(pk))
    assert [(e["status"], e["channel"]) for e in events(pk)] == [("SENT", "IN_APP")]


def test_settle__twice__makes_one_entry():
    add(channel=Channel.IN_APP)
    [row] = claim()

    assert len(queue.settle([accepted(row)])) == 1
    assert queue.settle([accepted(row)]) == []
    assert entry_ids() == [row.id]


def test_settle__of_a_batch__keeps_the_order_of_the_notifications():
    ids = add(200, channel=Channel.IN_APP)

    queue.settle([accepted(row) for row in reversed(claim(limit=200))])

    assert list(InboxEntry.objects.order_by("id").values_list("notification", flat=True)) == ids


@pytest.mark.parametrize("channel", [Channel.EMAIL, Channel.PUSH])
def test_settle__other_channels__ask_nothing_of_inboxes_or_groups(channel):
    add(3, channel=channel)
    endings = [accepted(row) for row in claim(limit=3)]

    with CaptureQueriesContext(connection) as asked:
        assert len(queue.settle(endings)) == 3

    assert [q["sql"] for q in asked if "inboxentry" in q["sql"] or "group_id" in q["sql"]] == []


def test_rescue__of_one_that_was_held__was_certainly_not_sent_and_comes_once():
    [pk] = add(channel=Channel.IN_APP)
    [row] = claim()
    built = chains.build(Config.load(Environment({})).provider_chains, Environment({}))
    move(pk, lease_expires_at=-1)

    assert [r.ending.id for r in queue.rescue(safety_of(built))] == [pk]

    found = Notification.objects.get()
    assert (found.status, found.attempt_count, found.unconfirmed_provider) == (Status.PENDING, 0, "")
    assert not Attempt.objects.exists()
    [again] = claim(suspects=True)
    assert queue.settle([accepted(row)]) == []
    assert entry_ids() == []
    assert len(queue.settle([accepted(again)])) == 1
    assert entry_ids() == [pk]


def test_cancel__after_its_worker_died__is_a_promise():
    [pk] = add(channel=Channel.IN_APP)
    claim()
    built = chains.build(Config.load(Environment({})).provider_chains, Environment({}))
    move(pk, lease_expires_at=-1)
    queue.rescue(safety_of(built))

    assert queue.cancel(pk)
    assert deliver() == []


def test_settle__in_a_transaction_that_fails__leaves_neither_entry_nor_outcome():
    [pk] = add(channel=Channel.IN_APP)
    [row] = claim()

    with transaction.atomic():
        queue.settle([accepted(row)])
        transaction.set_rollback(True)

    assert (status(pk), entry_ids()) == (Status.PROCESSING, [])


def test_claim__many_to_one_user__none_waits_for_a_rate_limit_nor_counts():
    RateLimitRule.objects.create(channel="", limit_count=1)
    add(3, channel=Channel.IN_APP)
    [mail] = add(channel=Channel.EMAIL)

    taken = queue.claim(Claimer("w", 60, Limits(Limit(1, 3600), 60)), 10)

    assert (len(taken.rows), taken.parked_count) == (4, 0)
    assert [slot.holder_id for slot in Slot.objects.all()] == [mail]


def test_expired__waiting__makes_no_entry():
    [pk] = add(channel=Channel.IN_APP, expires_at=database_now() - timedelta(seconds=1))

    assert deliver() == []
    assert (status(pk), entry_ids()) == (Status.EXPIRED, [])


def test_pause__of_the_channel__keeps_it(settings):
    services.pause("CHANNEL", "IN_APP", reason="", by="ops")
    add(channel=Channel.IN_APP)

    assert deliver() == []
    assert Notification.objects.get().waiting_reason == WaitingReason.PAUSED
    assert "inbox" in services.pause("PROVIDER", "inbox", reason="", by="ops")[0].value


def test_collapse__newer_one_comes__replaces_the_unread_older_one():
    client = a_client()
    for body in ("packed", "shipped", "delivered"):
        submit(client, body, collapse_key="order-1")
        deliver()

    assert bodies() == ["delivered"]
    assert Notification.objects.filter(status=Status.SENT).count() == 3


def test_collapse__in_one_batch__keeps_the_newest():
    client = a_client()
    for body in ("packed", "shipped", "delivered"):
        submit(client, body, collapse_key="order-1")
    submit(client, "other")

    deliver()

    assert bodies() == ["other", "delivered"]


def test_collapse__older_one_comes_late__is_outdated_at_once():
    client = a_client()
    first = submit(client, "packed", collapse_key="order-1")
    submit(client, "shipped", collapse_key="order-1")
    [late, other] = claim(limit=2)
    assert late.id == first

    queue.settle([accepted(other)])
    queue.settle([accepted(late)])

    assert (bodies(), status(first)) == (["shipped"], Status.SENT)


def test_collapse__asked_for_earlier_but_to_be_sent_later__counts_as_the_newer():
    client = a_client()
    submit(client, "scheduled", collapse_key="k", delay_seconds=3600)
    submit(client, "now", collapse_key="k")
    deliver()
    Notification.objects.filter(status=Status.PENDING).update(due_at=database_now())

    deliver()

    assert bodies() == ["scheduled"]


def test_collapse__older_one_was_read__stays():
    client = a_client()
    submit(client, "packed", collapse_key="order-1")
    deliver()
    InboxEntry.objects.update(read_at=database_now())
    submit(client, "shipped", collapse_key="order-1")

    deliver()

    assert bodies() == ["shipped", "packed"]


@pytest.mark.parametrize(
    "other", [{"collapse_key": "another"}, {"collapse_key": None}, {"recipient": "eve"}], ids=["key", "none", "user"]
)
def test_collapse__another_key_or_user__replaces_nothing(other):
    client = a_client()
    submit(client, "one", collapse_key="k")
    submit(client, "two", **{"collapse_key": "k"} | other)

    deliver()

    assert InboxEntry.objects.count() == 2


def test_collapse__another_clients__replaces_nothing():
    submit(a_client(), "one", collapse_key="k")
    submit(a_client(), "two", collapse_key="k")

    deliver()

    assert bodies() == ["two", "one"]


def test_notification__deleted__takes_its_entry_with_it():
    add(2, channel=Channel.IN_APP)
    deliver()
    gone, kept = Notification.objects.order_by("id")

    with transaction.atomic():
        Attempt.objects.filter(notification=gone).delete()
        gone.content.delete()
        Notification.objects.filter(pk=gone.pk)._raw_delete("default")

    assert entry_ids() == [kept.pk]
