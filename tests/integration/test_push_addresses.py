"""Device addresses through the queue: each platform's provider, and what becomes of one that nobody serves."""

import dataclasses
from datetime import timedelta

import pytest

from notifications import queue, services
from notifications.channel import Channel
from notifications.delivery.upkeep import safety_of
from notifications.models import Attempt, Notification
from notifications.providers.chains import Chain
from notifications.queue import Claimer, Limits
from notifications.status import Status
from tests.support.api import Caller, fields_of, push
from tests.support.platforms import Apple, Google
from tests.support.rows import add, claim, database_now

pytestmark = pytest.mark.django_db

IPHONE, ANDROID = "apns:00ff", "fcm:token"
BOTH = {Channel.PUSH: Chain((Google("fcm"), Apple("apns")))}
ONLY_FCM = {Channel.PUSH: Chain((Google("fcm"),))}


def add_push(recipient, **fields):
    return add(channel=Channel.PUSH, recipient=recipient, **fields)[0]


@pytest.fixture
def chain_of(settings):
    def set_chain(*names):
        chains = settings.NOTIFYQ.provider_chains | {Channel.PUSH: names}
        settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, provider_chains=chains)

    return set_chain


@pytest.mark.parametrize(
    ("chains", "recipient", "attributed"),
    [(BOTH, IPHONE, "apns"), (BOTH, ANDROID, "fcm"), (ONLY_FCM, IPHONE, "")],
)
def test_rescue__no_send_on_record__is_laid_to_nobody_but_the_addresses_own_provider(chains, recipient, attributed):
    row_id = add_push(recipient)
    claim(worker_id="dead")
    queue.rescue(safety_of(chains), worker_ids=["dead"])

    row = Notification.objects.get(pk=row_id)
    assert (row.status, row.unconfirmed_provider, row.suspect) == (Status.PENDING, attributed, True)
    assert list(Attempt.objects.values_list("provider", flat=True)) == ([attributed] if attributed else [])


def test_pause__of_one_platform__keeps_its_devices_and_no_others(chain_of):
    chain_of("fcm", "apns")
    kept, free = add_push(IPHONE), add_push(ANDROID)
    services.pause("PROVIDER", "apns", by="a test")
    serving = {IPHONE: ("apns",), ANDROID: ("fcm",)}
    claimer = Claimer("worker", 60, Limits(None, 60), serving=lambda channel, recipient: serving[recipient])

    assert [row.id for row in queue.claim(claimer, 10).rows] == [free]
    assert Notification.objects.get(pk=kept).waiting_reason == "PAUSED"


def test_claim__with_a_time_to_live__has_the_instant_of_the_database():
    expires = database_now() + timedelta(seconds=90)
    add_push(IPHONE, expires_at=expires)
    add_push(ANDROID)

    rows = {row.recipient: row for row in claim(limit=2)}

    assert abs(rows[IPHONE].expires_at - expires) < timedelta(milliseconds=1)
    assert rows[ANDROID].expires_at is None


def test_api__address_that_no_provider_serves__is_refused_and_a_repeat_still_answered(chain_of):
    caller = Caller()
    assert caller.post(body=push(recipient=IPHONE)).status_code == 201
    chain_of("fcm")

    refused = caller.post(body=push(recipient=IPHONE, idempotencyKey="key-2"))
    repeated = caller.post(body=push(recipient=IPHONE))

    assert (refused.status_code, fields_of(refused)) == (400, ["recipient"])
    assert refused.json()["errors"][0]["code"] == "no_provider"
    assert repeated.status_code == 200
    assert caller.post(body=push(recipient=ANDROID, idempotencyKey="key-3")).status_code == 201


def test_api__in_a_batch_or_among_targets__only_that_one_is_named(chain_of):
    chain_of("fcm")
    caller = Caller()
    batch = {"notifications": [push(), push(recipient=IPHONE, idempotencyKey="key-2")]}
    group = {"targets": [{"channel": "PUSH", "recipient": r} for r in (ANDROID, IPHONE)], "body": "x"}

    assert [r["status"] for r in caller.post("/api/v1/notifications/batch", batch).json()["results"]] == [201, 400]
    assert fields_of(caller.post(body=group | {"idempotencyKey": "g"})) == ["targets[1].recipient"]
