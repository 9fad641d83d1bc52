"""What follows from receipts: the second axis, in any order, and the proof that an attempt in doubt was sent."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from notifications import queue
from notifications.channel import Channel
from notifications.models import Notification, OnceToken, Receipt
from notifications.queue import Once
from notifications.receipts import DeliveryStatus as To
from notifications.status import FINAL, Status, WaitingReason
from ratelimits.models import Slot
from tests.support.factories import ClientFactory, NotificationFactory, ago
from tests.support.reports import make_due, report, take, waiting_count

MANY = """
INSERT INTO notifications_notification (id, status, client_id, idempotency_key, fingerprint, channel, recipient,
  send_at, max_attempts, on_unconfirmed, finished_at, provider, provider_message_id)
SELECT gen_random_uuid(), 'SENT', %s, 'old ' || n, '', 'SMS', '+14155550100', now(), 6, 'RETRY', now(), 'twilio',
  'm-' || n
FROM generate_series(1, 5000) n
"""
pytestmark = pytest.mark.django_db


def doubtful(status: Status = Status.PENDING, **columns: Any) -> UUID:
    """A notification with an attempt that may have been sent."""
    known = {"unconfirmed_provider": "sandbox", "unconfirmed_at": ago(5), "attempt_count": 1}
    row: Notification = NotificationFactory(status=status, **known | columns)
    return row.pk


def state(notification_id: UUID) -> tuple[str, str]:
    row = Notification.objects.get(pk=notification_id)
    return row.status, row.delivery_status


@pytest.fixture
def announced() -> Any:
    """The ids of final outcomes, as those are told who asked."""
    from notifications.queue import outcomes

    heard: list[UUID] = []
    queue.on_outcome(heard.extend)
    yield heard
    outcomes._listeners.remove(heard.extend)


@pytest.mark.parametrize("order", list(itertools.permutations([To.ACCEPTED, To.DELIVERED, To.BOUNCED])))
def test_receive__the_same_reports_in_any_order__give_the_same_status(order: tuple[To, ...]) -> None:
    row = NotificationFactory(status=Status.SENT)
    for status in order:
        take(status, key=row.pk)
    assert state(row.pk) == (Status.SENT, To.BOUNCED)
    assert [r.status for r in row.receipts.all()] == list(order)


def test_receive__the_same_report_again__changes_and_stores_nothing() -> None:
    row = NotificationFactory(status=Status.SENT)
    assert take(key=row.pk, event_id="e").new == {("sandbox", To.DELIVERED): 1}
    before = Notification.objects.get(pk=row.pk).updated_at
    assert take(key=row.pk, event_id="e").new == {}
    assert queue.receive([report(key=row.pk, event_id="f"), report(key=row.pk, event_id="f")]).new.total() == 1
    assert row.receipts.count() == 2
    assert Notification.objects.get(pk=row.pk).updated_at == before


def test_receive__the_same_event_of_another_provider__is_another() -> None:
    row = NotificationFactory(status=Status.SENT)
    take(key=row.pk, event_id="e")
    assert take(key=row.pk, event_id="e", provider="sandbox:b").new.total() == 1


def test_receive__without_our_key__goes_by_provider_and_message_id() -> None:
    sms = {"status": Status.SENT, "channel": Channel.SMS, "provider_message_id": "SM1"}
    row, other = NotificationFactory(provider="twilio", **sms), NotificationFactory(provider="vonage", **sms)
    take(message_id="SM1", provider="twilio")
    assert (state(row.pk)[1], state(other.pk)[1]) == (To.DELIVERED, "")


@pytest.mark.parametrize("status", sorted(FINAL))
def test_receive__for_what_is_final__changes_the_second_axis_alone(status: Status, announced: list[UUID]) -> None:
    row = NotificationFactory(status=status, unconfirmed_provider="sandbox", unconfirmed_at=ago(5))
    before = Notification.objects.get(pk=row.pk)
    take(key=row.pk)
    after = Notification.objects.get(pk=row.pk)
    assert (after.status, after.delivery_status) == (status, To.DELIVERED)
    assert (after.finished_at, after.outcome_sequence) == (before.finished_at, before.outcome_sequence)
    assert announced == []


@pytest.mark.parametrize("told", sorted(set(To) - {To.REJECTED}))
@pytest.mark.parametrize("status", [Status.PENDING, Status.RECONCILING])
def test_receive__proof_for_an_attempt_in_doubt__makes_it_sent_and_is_told_once(
    status: Status, told: To, announced: list[UUID]
) -> None:
    row = doubtful(status, last_error_code="timeout", last_error_message="no answer")
    taken = take(told, key=row, message_id="m-1", event_id="e")
    take(told, key=row, message_id="m-1", event_id="e")
    take(told, key=row, message_id="m-1", event_id="f")
    found = Notification.objects.get(pk=row)
    assert (found.status, found.delivery_status, found.outcome_sequence) == (Status.SENT, told, 1)
    assert (found.provider, found.provider_message_id, found.unconfirmed_provider) == ("sandbox", "m-1", "")
    assert (found.last_error_code, found.last_error_message, found.unconfirmed_at) == ("", "", None)
    assert found.finished_at is not None
    assert announced == [row]
    assert taken.credited.confirmed == {(Status.SENT, Channel.EMAIL): 1}


@pytest.mark.parametrize(
    "columns",
    [
        {"parked_by": uuid4(), "waiting_reason": WaitingReason.RATE_LIMITED},
        {"suspect": True, "final_check": True},
        {"due_at": ago(-60), "waiting_reason": WaitingReason.RETRY_BACKOFF},
        {"expires_at": ago(60)},
    ],
)
def test_receive__proof_for_one_that_waits_for_whatever__makes_it_sent(columns: dict[str, Any]) -> None:
    row = doubtful(**columns)
    Slot.objects.create(bucket=uuid4(), holder_id=row, claim_token=None, slot_at=Now())
    take(key=row)
    found = Notification.objects.get(pk=row)
    assert (found.status, found.waiting_reason, found.parked_by) == (Status.SENT, "", None)
    assert (found.suspect, found.final_check) == (False, False)
    assert not Slot.objects.exists()


@pytest.mark.parametrize(
    "report_of",
    [
        lambda row: report(To.REJECTED, key=row),  # it never left: there is no first copy
        lambda row: report(key=row, provider="sandbox:b"),  # says nothing of the provider in doubt
    ],
)
def test_receive__what_proves_nothing_for_an_attempt_in_doubt__leaves_it_open(
    report_of: Any, announced: list[UUID]
) -> None:
    row = doubtful()
    queue.receive([report_of(row)])
    found = Notification.objects.get(pk=row)
    assert (found.status, found.unconfirmed_provider) == (Status.PENDING, "sandbox")
    assert announced == []


def test_receive__for_one_that_waits_without_any_doubt__changes_the_second_axis_alone() -> None:
    row = NotificationFactory(last_used_provider="sandbox").pk
    take(key=row)
    assert state(row) == (Status.PENDING, To.DELIVERED)


def test_receive__while_a_worker_holds_it__waits_and_counts_afterwards() -> None:
    row = doubtful(Status.PROCESSING)
    take(key=row)
    assert (state(row), waiting_count()) == ((Status.PROCESSING, ""), 1)
    make_due()
    assert queue.look_again().receipt_ids == frozenset()
    assert (state(row), waiting_count()) == ((Status.PROCESSING, ""), 1)
    lease_over = {"claim_token": None, "worker_id": "", "lease_expires_at": None}
    Notification.objects.filter(pk=row).update(status=Status.PENDING, **lease_over)
    make_due()
    assert queue.look_again().confirmed.total() == 1
    assert (state(row), waiting_count()) == ((Status.SENT, To.DELIVERED), 0)


def test_receive__before_the_message_id_is_known__waits_for_it() -> None:
    row = NotificationFactory(status=Status.SENT, channel=Channel.SMS, provider="twilio", provider_message_id="")
    take(message_id="SM1", provider="twilio")
    assert Receipt.objects.get().notification_id is None
    row.provider_message_id = "SM1"
    row.save(update_fields=["provider_message_id"])
    make_due()
    assert queue.look_again().looked_count == 1
    assert state(row.pk) == (Status.SENT, To.DELIVERED)
    assert Receipt.objects.get().notification_id == row.pk


def test_look_again__what_was_not_found__is_looked_for_after_ever_longer_pauses() -> None:
    take(key=uuid4())
    pauses = []
    for age_seconds in (0, 100, 86_400):
        Receipt.objects.update(look_at=Now(), received_at=Now() - timedelta(seconds=age_seconds))
        queue.look_again()
        pauses.append(Receipt.objects.annotate(now=Now()).values_list("look_at", "now").get())
    assert [round((look_at - now).total_seconds()) for look_at, now in pauses] == [1, 25, 3600]


def test_look_again__what_is_held__is_looked_at_every_second_however_long_it_takes() -> None:
    take(key=doubtful(Status.PROCESSING))
    Receipt.objects.update(look_at=Now(), received_at=Now() - timedelta(days=1))
    queue.look_again()
    look_at, now = Receipt.objects.annotate(now=Now()).values_list("look_at", "now").get()
    assert round((look_at - now).total_seconds()) == 1


def test_receive__without_our_key_among_many__reads_the_index_of_message_ids() -> None:
    client = ClientFactory()
    with connection.cursor() as cursor:
        cursor.execute(MANY, [client.pk])
        cursor.execute("ANALYZE notifications_notification")
    with CaptureQueriesContext(connection) as caught:
        taken = queue.receive([report(message_id=f"m-{n}", provider="twilio") for n in range(1, 300)])
    assert len(taken.credited.receipt_ids) == 299
    [match] = [q["sql"] for q in caught.captured_queries if "n.id = v.key" in q["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + match.replace("%", "%%"))
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "notification_message_id" in plan
    assert "Seq Scan on notifications_notification" not in plan


def test_look_again__what_was_not_found_for_days__is_dropped_and_nothing_else() -> None:
    held = doubtful(Status.PROCESSING)
    take(key=held, event_id="held")
    take(key=uuid4(), event_id="nobody's")
    Receipt.objects.update(received_at=Now() - timedelta(days=4))
    take(key=uuid4(), event_id="new")
    make_due()
    queue.look_again()
    assert set(Receipt.objects.values_list("event_id", flat=True)) == {"held", "new"}


def test_look_again__of_many__takes_no_more_than_the_limit() -> None:
    queue.receive([report(key=uuid4()) for _ in range(7)])
    make_due()
    assert queue.look_again(limit=5).looked_count == 5
    assert queue.look_again(limit=5).looked_count == 2
    assert queue.look_again(limit=5).looked_count == 0


def test_receive__hundreds_at_once__takes_as_few_statements_as_one() -> None:
    rows = [NotificationFactory(status=Status.SENT).pk for _ in range(40)]
    counts = []
    for reports in ([report(key=rows[0])], [report(key=row) for row in rows for _ in range(10)]):
        with CaptureQueriesContext(connection) as caught:
            queue.receive(reports)
        counts.append(len(caught))
    assert counts[0] == counts[1] <= 9
    assert set(Notification.objects.values_list("delivery_status", flat=True)) == {To.DELIVERED}


def test_once__the_same_token_for_the_same_body__is_a_repeat() -> None:
    row = NotificationFactory(status=Status.SENT)
    for _ in range(2):
        queue.receive([report(key=row.pk, event_id="e")], Once("mailgun", "t", b"1" * 32))
    assert Receipt.objects.count() == 1


def test_once__the_same_token_for_another_body__is_refused_and_nothing_is_stored() -> None:
    queue.receive([], Once("mailgun", "t", b"1" * 32))
    with pytest.raises(queue.TokenUsed):
        queue.receive([report(key=uuid4())], Once("mailgun", "t", b"2" * 32))
    assert not Receipt.objects.exists()
    queue.receive([], Once("mailgun:eu", "t", b"2" * 32))  # another account's


def test_drop_tokens__those_too_old_to_be_taken__go() -> None:
    queue.receive([], Once("mailgun", "old", b"1" * 32))
    OnceToken.objects.update(seen_at=Now() - timedelta(days=2))
    queue.receive([], Once("mailgun", "new", b"1" * 32))
    assert queue.drop_tokens() == 1
    assert OnceToken.objects.get().token == "new"
