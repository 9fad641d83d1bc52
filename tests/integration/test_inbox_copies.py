"""A push and its in-app copy: the entry is there no later than the push, once; and it stands in for a lost device."""

from datetime import timedelta

import pytest

from notifications import queue, services
from notifications.channel import Channel
from notifications.models import Notification
from notifications.status import Status
from notifications.verdict import Verdict
from tests.support.inboxes import (
    DEVICE,
    accepted,
    claim_push,
    deliver,
    ending,
    entry_ids,
    events,
    push_with_copy,
    settle,
    status,
)
from tests.support.rows import a_client, attempts_of, claim, database_now
from tests.support.webhook_rows import an_endpoint

pytestmark = pytest.mark.django_db

GONE = Verdict.rejected("unregistered", "no such device")
NO_VERDICTS = [Verdict.unconfirmed("timeout"), Verdict.temporary("throttled"), Verdict.provider_fault("account")]


@pytest.fixture
def client():
    client = a_client()
    an_endpoint(client=client, events=["SENT", "FAILED", "CANCELLED"])
    return client


def told(pk):
    return [event["status"] for event in events(pk)]


def error_of(pk):
    return Notification.objects.get(pk=pk).last_error_code


def test_push__settled_while_its_copy_waits__brings_the_copy_along(client):
    push, copy = push_with_copy(client)

    settle(claim_push(), Verdict.accepted("m"))

    row = Notification.objects.get(pk=copy)
    assert (status(push), row.status, entry_ids()) == (Status.SENT, Status.SENT, [copy])
    assert (row.provider, row.provider_message_id, row.attempt_count) == ("inbox", str(copy), 1)
    assert attempts_of(copy) == [(1, "ACCEPTED", "")]
    assert deliver() == []
    assert (told(push), told(copy), entry_ids()) == (["SENT"], ["SENT"], [copy])


def test_push__settled_after_its_copy__changes_nothing_of_it(client):
    _, copy = push_with_copy(client)
    deliver(Channel.IN_APP)
    before = Notification.objects.filter(pk=copy).values().get()

    settle(claim_push(), Verdict.accepted("m"))

    assert Notification.objects.filter(pk=copy).values().get() == before
    assert (told(copy), entry_ids()) == (["SENT"], [copy])


def test_push_and_copy__in_one_batch__both_apply(client):
    push, copy = push_with_copy(client)
    rows = claim(limit=2)
    assert {row.id for row in rows} == {push, copy}

    assert {e.id for e in queue.settle([accepted(row) for row in rows])} == {push, copy}

    assert (told(push), told(copy), entry_ids()) == (["SENT"], ["SENT"], [copy])
    assert attempts_of(copy) == [(1, "ACCEPTED", "")]


def test_push__settled_while_a_worker_holds_its_copy__makes_that_workers_settle_stale(client):
    _, copy = push_with_copy(client)
    [held] = claim(channels=[Channel.IN_APP])

    settle(claim_push(), Verdict.accepted("m"))

    assert status(copy) == Status.SENT
    assert queue.settle([accepted(held)]) == []
    assert (told(copy), entry_ids()) == (["SENT"], [copy])
    assert attempts_of(copy) == [(1, "ACCEPTED", "")]


def test_push__copy_is_for_later__brings_it_along_all_the_same(client):
    _, copy = push_with_copy(client)
    services.reschedule(copy, client, None, delay_seconds=3600)

    settle(claim_push(), Verdict.accepted("m"))

    assert (status(copy), entry_ids()) == (Status.SENT, [copy])


def test_push__copy_was_cancelled__leaves_it_so(client):
    _, copy = push_with_copy(client)
    queue.cancel(copy)

    settle(claim_push(), Verdict.accepted("m"))

    assert (status(copy), told(copy), entry_ids()) == (Status.CANCELLED, ["CANCELLED"], [])


def test_push__copy_has_outlived_its_time__leaves_it_so(client):
    _, copy = push_with_copy(client)
    Notification.objects.filter(pk=copy).update(expires_at=database_now() - timedelta(seconds=1))

    settle(claim_push(), GONE)

    assert (status(copy), entry_ids()) == (Status.PENDING, [])
    queue.expire()
    assert status(copy) == Status.EXPIRED


def test_push__copies_are_paused__leaves_it_until_the_end_of_the_pause(client):
    push, copy = push_with_copy(client)
    pause, _ = services.pause("CHANNEL", "IN_APP", reason="", by="ops")
    assert deliver(Channel.IN_APP) == []

    settle(claim_push(), GONE)

    assert (status(copy), entry_ids()) == (Status.PENDING, [])
    assert (status(push), error_of(push)) == (Status.SENT, "no_push_target")  # it is going to get the copy
    services.resume(pause.pk, by="ops")
    queue.release_paused()
    deliver(Channel.IN_APP)
    assert (status(copy), entry_ids()) == (Status.SENT, [copy])


@pytest.mark.parametrize("copy_first", [True, False])
def test_push__its_device_is_gone__is_sent_by_its_copy(client, copy_first):
    push, copy = push_with_copy(client)
    if copy_first:
        deliver(Channel.IN_APP)

    [applied] = settle(claim_push(), GONE)

    row = Notification.objects.get(pk=push)
    assert applied.decision.status == Status.SENT
    assert (row.status, row.last_error_code, row.provider) == (Status.SENT, "no_push_target", "")
    assert attempts_of(push) == [(1, "REJECTED", "unregistered")]
    assert [(e["status"], e["error"]["code"]) for e in events(push)] == [("SENT", "no_push_target")]
    assert (told(copy), events(copy)[0]["error"], entry_ids()) == (["SENT"], None, [copy])


def test_push__its_device_is_gone_and_the_copy_was_cancelled__fails(client):
    push, copy = push_with_copy(client)
    queue.cancel(copy)

    settle(claim_push(), GONE)

    assert (status(push), error_of(push), told(push)) == (Status.FAILED, "unregistered", ["FAILED"])


def test_push__its_device_is_gone_and_there_is_no_copy__fails(client):
    targets = [{"channel": "PUSH", "recipient": DEVICE}, {"channel": "SMS", "recipient": "+14155550100"}]
    services.submit_group(client, {"targets": targets, "body": "Hello", "idempotency_key": "k"})
    row = claim_push()

    settle(row, GONE)

    assert (status(row.id), error_of(row.id)) == (Status.FAILED, "unregistered")


def test_push__copy_of_another_group__does_not_count(client):
    push_with_copy(client)
    row = claim_push()
    deliver(Channel.IN_APP)
    services.submit(client=client, idempotency_key="alone", channel="PUSH", recipient="fcm:other", body="Hello")
    alone = claim_push()

    settle(alone, GONE)
    settle(row, GONE)

    assert (status(alone.id), status(row.id)) == (Status.FAILED, Status.SENT)


def test_push__rejected_for_something_else__fails_and_leaves_the_copy_alone(client):
    push, copy = push_with_copy(client)

    settle(claim_push(), Verdict.rejected("content_rejected"))

    assert (status(push), status(copy)) == (Status.FAILED, Status.PENDING)


@pytest.mark.parametrize("verdict", NO_VERDICTS, ids=lambda v: v.outcome)
def test_push__without_a_verdict_on_its_device__is_never_told_by_its_copy(client, verdict):
    push, copy = push_with_copy(client, max_attempts=1)
    deliver(Channel.IN_APP)

    settle(claim_push(), verdict)

    assert status(copy) == Status.SENT
    assert status(push) == Status.DEAD_LETTERED
    assert error_of(push) != "no_push_target"


def test_push__that_may_have_been_sent__brings_the_copy_along(client):
    push, copy = push_with_copy(client)

    settle(claim_push(), Verdict.unconfirmed("timeout"))

    assert (status(push), entry_ids()) == (Status.PENDING, [copy])


def test_pushes__many_with_copies__are_settled_in_few_statements(client, django_assert_max_num_queries):
    for number in range(20):
        push_with_copy(client, key=f"k{number}")
    endings = [ending(row, GONE) for row in claim(limit=20, channels=[Channel.PUSH])]

    with django_assert_max_num_queries(25):
        assert len(queue.settle(endings)) == 20

    assert len(entry_ids()) == 20
    assert Notification.objects.filter(status=Status.SENT).count() == 40
