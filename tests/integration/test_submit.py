"""Submitting from a producer's own Django code."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from notifications import services
from notifications.channel import Channel, Priority
from notifications.errors import IdempotencyConflict, InvalidRequest
from notifications.models import Client, Content, Notification
from notifications.status import WaitingReason
from tests.support.factories import ClientFactory

pytestmark = pytest.mark.django_db


def submit(client, **changes):
    values = {
        "idempotency_key": "key-1",
        "channel": Channel.EMAIL,
        "recipient": "ada@example.com",
        "subject": "Hello",
        "body": "It works.",
    }
    return services.submit(client=client, **values | changes)


def test_submit__callers_transaction_rolled_back__leaves_nothing():
    client = ClientFactory()

    with transaction.atomic():
        assert submit(client).created
        transaction.set_rollback(True)

    assert not Notification.objects.exists()
    assert not Content.objects.exists()
    assert submit(client).created


def test_submit__refused_inside_a_transaction__leaves_it_usable():
    client = ClientFactory()
    submit(client)

    with transaction.atomic():
        with pytest.raises(IdempotencyConflict):
            submit(client, body="Something else.")
        with pytest.raises(InvalidRequest):
            submit(client, idempotency_key="key-2", body="")
        assert not submit(client).created
        assert submit(client, idempotency_key="key-3").created

    assert Notification.objects.count() == 2


def test_submit__savepoint_rolled_back__only_that_one_is_gone():
    client = ClientFactory()

    with transaction.atomic():
        submit(client)
        with transaction.atomic():
            submit(client, idempotency_key="key-2")
            transaction.set_rollback(True)

    assert [n.idempotency_key for n in Notification.objects.all()] == ["key-1"]


def test_submit__workers__are_woken_after_the_commit_only(django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        submit(ClientFactory())

    assert len(callbacks) == 1


def test_submit__repeat__returns_the_same_row():
    client = ClientFactory()
    first = submit(client, send_at=datetime(2020, 1, 1, tzinfo=UTC))

    again = submit(client, send_at="2020-01-01T01:00:00+01:00")

    assert (again.created, again.notification) == (False, first.notification)
    assert again.notification.content.body == "It works."


def test_submit__returned_row__equals_the_stored_one():
    made = submit(ClientFactory(), delay_seconds=60, priority=Priority.LOW).notification

    stored = Notification.objects.get()
    names = [f.attname for f in Notification._meta.concrete_fields if f.attname != "fingerprint"]
    assert {n: getattr(made, n) for n in names} == {n: getattr(stored, n) for n in names}
    assert stored.waiting_reason == WaitingReason.SCHEDULED
    assert stored.due_at - stored.created_at == timedelta(seconds=60)


def test_submit__without_limits_of_its_own__takes_the_channels(settings):
    row = submit(ClientFactory()).notification

    assert row.max_attempts == settings.NOTIFYQ.max_attempts[Channel.EMAIL]
    assert row.on_unconfirmed == settings.NOTIFYQ.on_unconfirmed[Channel.EMAIL]


def test_submit__naive_datetime__is_refused():
    with pytest.raises(InvalidRequest) as caught:
        submit(ClientFactory(), send_at=datetime(2030, 1, 1))

    assert [e.field for e in caught.value.errors] == ["send_at"]


def test_submit__error_text__holds_no_value():
    with pytest.raises(InvalidRequest) as caught:
        submit(ClientFactory(), recipient="9f3@", body="9f3\x00", subject="9f3\n")

    assert "9f3" not in str(caught.value)


def test_submit__key_of_another_client__is_another_key():
    assert submit(ClientFactory()).created
    assert submit(Client.objects.create(name="another"), body="Something else.").created
