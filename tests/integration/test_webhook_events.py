"""An outcome and its webhook events commit together, one event for each endpoint that wants to know."""

import json
import re

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from notifications import queue
from notifications.channel import Channel
from notifications.models import Notification
from notifications.outcome import Decision
from notifications.status import FINAL, Status
from tests.support.rows import claim
from tests.support.webhook_rows import a_client, an_endpoint, notifications
from webhooks.models import WebhookEvent
from webhooks.queue import record_outcomes
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db


def finish(status=Status.SENT, code="", message=""):
    """Claim what is due and settle it as told."""
    claimed = claim(worker_id="w", limit=10, lease_seconds=60)
    decision = Decision(status=status, error_code=code, error_message=message)
    return queue.settle([queue.Ending(c.id, c.token, decision) for c in claimed])


def bodies():
    return [json.loads(event.body) for event in WebhookEvent.objects.order_by("id")]


def test_settle__endpoint_of_the_client__writes_the_body_of_the_contract():
    client = a_client()
    an_endpoint(client=client)
    (identity,) = notifications(1, client=client, reference="order-1", metadata={"a": "ü", "b": '"quoted"'})

    finish()

    event = WebhookEvent.objects.get()
    row = Notification.objects.get()
    assert row.finished_at is not None
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", str(event.pk))
    assert abs((event.pk.int >> 80) / 1000 - row.finished_at.timestamp()) < 5
    body = json.loads(event.body)
    assert list(body) == [
        *("eventId", "jobId", "status", "attemptCount", "timestamp", "type", "channel", "reference", "metadata"),
        *("error", "sequence"),
    ]
    assert body == {
        "eventId": str(event.pk),
        "jobId": str(identity),
        "status": "SENT",
        "attemptCount": 1,
        "timestamp": row.finished_at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "type": "notification.sent",
        "channel": "EMAIL",
        "reference": "order-1",
        "metadata": {"a": "ü", "b": '"quoted"'},
        "error": None,
        "sequence": 1,
    }
    assert (event.status, event.sequence, event.type) == (EventStatus.PENDING, 1, "notification.sent")


@pytest.mark.parametrize(
    ("status", "kind"), [(Status.FAILED, "notification.failed"), (Status.DEAD_LETTERED, "notification.dead_lettered")]
)
def test_settle__failure__names_the_error(status, kind):
    client = a_client()
    an_endpoint(client=client)
    notifications(1, client=client, channel=Channel.SMS)

    finish(status, "recipient_rejected", "No such number")

    (body,) = bodies()
    assert (body["status"], body["type"], body["channel"]) == (status, kind, "SMS")
    assert body["error"] == {"code": "recipient_rejected", "message": "No such number"}
    assert (body["reference"], body["metadata"]) == (None, {})


@pytest.mark.parametrize("wanted", sorted(FINAL))
def test_outcome__each_status__goes_to_those_subscribed_to_it_only(wanted):
    client = a_client()
    endpoints = {status: an_endpoint(client=client, events=[status]) for status in FINAL}
    notifications(1, client=client)
    if wanted in (Status.SENT, Status.FAILED, Status.DEAD_LETTERED):
        finish(wanted)
    elif wanted == Status.CANCELLED:
        assert queue.cancel(Notification.objects.get().pk)
    else:
        Notification.objects.update(expires_at="2020-01-01T00:00:00Z")
        assert queue.expire().total() == 1

    assert [(e.endpoint_id, e.type) for e in WebhookEvent.objects.all()] == [
        (endpoints[wanted].pk, f"notification.{wanted.lower()}")
    ]


def test_outcome__several_endpoints_and_notifications__one_event_each_in_one_statement():
    client = a_client()
    for _ in range(2):
        an_endpoint(client=client)
    an_endpoint()  # another client's
    notifications(3, client=client)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        finish()

    assert WebhookEvent.objects.count() == 6
    assert len(WebhookEvent.objects.values_list("notification_id", "endpoint_id").distinct()) == 6
    assert sum("webhooks_" in query["sql"] for query in queries) == 1


@pytest.mark.parametrize(
    "columns", [{"enabled": False}, {"enabled": False, "deleted_at": "2026-01-01T00:00:00Z"}, {"events": ["FAILED"]}]
)
def test_outcome__endpoint_disabled_by_its_owner_or_not_subscribed__gets_none(columns):
    client = a_client()
    an_endpoint(client=client, **columns)
    notifications(1, client=client)

    finish()

    assert not WebhookEvent.objects.exists()


def test_outcome__endpoint_disabled_by_the_service__keeps_it_for_a_replay():
    client = a_client()
    an_endpoint(client=client, enabled=False, disabled_reason="FAILING")
    notifications(1, client=client)

    finish()

    event = WebhookEvent.objects.get()
    assert event.status == EventStatus.CANCELLED
    assert event.finished_at is not None


def test_outcome__rolled_back__leaves_no_event():
    client = a_client()
    an_endpoint(client=client)
    notifications(1, client=client)

    with transaction.atomic():
        finish()
        assert WebhookEvent.objects.exists()
        transaction.set_rollback(True)

    assert not WebhookEvent.objects.exists()


def test_settle__stale__writes_no_event():
    client = a_client()
    an_endpoint(client=client)
    notifications(1, client=client)
    (claimed,) = claim(worker_id="w", limit=1, lease_seconds=60)
    ending = queue.Ending(claimed.id, claimed.token, Decision(status=Status.SENT))
    queue.settle([ending])

    assert queue.settle([ending]) == []
    assert WebhookEvent.objects.count() == 1


def test_record_outcomes__repeated_for_one_outcome__writes_it_once():
    client = a_client()
    an_endpoint(client=client)
    (identity,) = notifications(1, client=client)
    finish()

    record_outcomes([identity])

    assert WebhookEvent.objects.count() == 1


def test_sequence__of_a_second_outcome__grows():
    client = a_client()
    an_endpoint(client=client)
    notifications(1, client=client)
    finish(Status.FAILED, "x")
    Notification.objects.update(status=Status.PENDING, finished_at=None, attempt_count=0)
    finish(Status.SENT)

    assert [(b["sequence"], b["status"]) for b in bodies()] == [(1, "FAILED"), (2, "SENT")]


def test_wake_up__after_events_were_written__is_one_notify_after_the_commit(django_capture_on_commit_callbacks):
    client = a_client()
    an_endpoint(client=client)
    notifications(2, client=client)
    with django_capture_on_commit_callbacks() as callbacks:
        finish()
    with CaptureQueriesContext(connection) as queries:
        for callback in callbacks:
            callback()

    assert [q["sql"] for q in queries if "notifyq_webhooks" in q["sql"]] == ["SELECT pg_notify('notifyq_webhooks', '')"]


def test_wake_up__nobody_to_tell__is_none(django_capture_on_commit_callbacks):
    notifications(1, client=a_client())

    with django_capture_on_commit_callbacks() as callbacks:
        finish()

    assert callbacks == []


def test_notification__deleted_by_retention__takes_its_events_along():
    client = a_client()
    an_endpoint(client=client)
    notifications(1, client=client)
    finish()

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM notifications_content")
        cursor.execute("DELETE FROM notifications_notification")

    assert not WebhookEvent.objects.exists()
