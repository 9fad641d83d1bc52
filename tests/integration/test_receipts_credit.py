"""A report counts where the message may have been sent through who reports, and changes nothing anywhere else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from notifications import queue
from notifications.admin.story.reading import read_history
from notifications.channel import Channel
from notifications.models import Notification, Receipt
from notifications.queue.rescue import Safety
from notifications.receipts import DeliveryStatus as To
from notifications.status import Status
from notifications.verdict import Outcome
from tests.support.api import NOTIFICATIONS
from tests.support.factories import AttemptFactory, NotificationFactory, ago
from tests.support.reports import make_due, report, take, waiting_count

pytestmark = pytest.mark.django_db

SMS = {"channel": Channel.SMS, "status": Status.SENT}
MAIL = {"channel": Channel.EMAIL, "status": Status.SENT}


def stands(row: Notification) -> tuple[str, str, int, int]:
    """Its state, what was reported, how many receipts count for it, and how many lie beside it."""
    found = Notification.objects.get(pk=row.pk)
    counts = row.receipts.filter(credited=True).count(), row.receipts.filter(credited=False).count()
    return found.status, found.delivery_status, *counts


@pytest.mark.parametrize(
    ("columns", "provider"),
    [
        (MAIL | {"provider": "mailgun"}, "vonage"),  # another channel
        (MAIL | {"provider": "mailgun"}, "sendgrid"),  # never asked
        (SMS | {"provider": "twilio:eu"}, "twilio"),  # another account
        (SMS | {"provider": "twilio"}, "twilio:eu"),
        ({"status": Status.RECONCILING, "unconfirmed_provider": "mailgun"}, "sendgrid"),
        ({"status": Status.CANCELLED}, "sendgrid"),
    ],
)
def test_report__of_who_was_not_asked_to_send_it__lies_beside_and_changes_nothing(
    columns: dict[str, Any], provider: str
) -> None:
    row = NotificationFactory(**columns | {"last_used_provider": columns.get("provider", "")})
    before = Notification.objects.get(pk=row.pk)
    taken = take(To.UNDELIVERED, key=row.pk, provider=provider)
    assert stands(row) == (before.status, "", 0, 1)
    assert Notification.objects.get(pk=row.pk).updated_at == before.updated_at
    assert (taken.credited.stray, taken.credited.confirmed.total(), waiting_count()) == ({provider: 1}, 0, 0)


@pytest.mark.parametrize("outcome", [Outcome.TEMPORARY, Outcome.LOST, Outcome.UNCONFIRMED])
def test_report__of_one_of_several_that_were_asked__counts(outcome: Outcome) -> None:
    row = NotificationFactory(**MAIL, provider="ses", last_used_provider="ses")
    AttemptFactory(notification=row, provider="mailgun", outcome=outcome)
    take(key=row.pk, provider="mailgun")
    assert stands(row) == (Status.SENT, To.DELIVERED, 1, 0)


def test_report__of_a_send_whose_worker_died_without_any_record__counts_once_it_is_taken_back() -> None:
    row = NotificationFactory(status=Status.PROCESSING, lease_expires_at=ago())
    take(key=row.pk, provider="resend", message_id="m-1")
    take(key=row.pk, provider="sendgrid")
    assert (stands(row), waiting_count()) == ((Status.PROCESSING, "", 0, 0), 2)
    queue.rescue(lambda channel, recipient, name: Safety("resend", False, 3600.0))  # its chain, and it drops repeats
    make_due()
    queue.look_again()
    assert (stands(row), waiting_count()) == ((Status.SENT, To.DELIVERED, 1, 1), 0)
    assert row.attempts.get().outcome == Outcome.LOST


def test_report__of_a_foreign_channel__does_not_even_wait_for_a_worker() -> None:
    row = NotificationFactory(status=Status.PROCESSING)
    take(key=row.pk, provider="vonage")
    assert (stands(row), waiting_count()) == ((Status.PROCESSING, "", 0, 1), 0)


def test_report__on_one_that_nobody_was_asked_to_send_yet__waits_and_counts_when_it_went_that_way() -> None:
    row = NotificationFactory()
    take(key=row.pk)
    assert (stands(row), waiting_count()) == ((Status.PENDING, "", 0, 0), 1)
    Notification.objects.filter(pk=row.pk).update(last_used_provider="sandbox", attempt_count=1)
    make_due()
    queue.look_again()
    assert stands(row) == (Status.PENDING, To.DELIVERED, 1, 0)


def test_report__on_one_that_is_not_sent_for_days__is_kept_and_counts_for_nothing() -> None:
    row = NotificationFactory()
    take(key=row.pk)
    Receipt.objects.update(received_at=Now() - timedelta(days=4))
    make_due()
    assert queue.look_again().stray == {"sandbox": 1}
    assert (stands(row), waiting_count()) == ((Status.PENDING, "", 0, 1), 0)


def test_api__shows_what_counts_and_the_console_also_what_does_not(caller: Any, admin_client: Any) -> None:
    row = NotificationFactory(client=caller.client, **MAIL)
    take(key=row.pk)
    take(To.BOUNCED, key=row.pk, provider="ses")
    shown = caller.get(f"{NOTIFICATIONS}/{row.pk}").json()
    assert (shown["deliveryStatus"], [r["status"] for r in shown["receipts"]]) == ("DELIVERED", ["DELIVERED"])
    text = admin_client.get(f"/admin/notifications/notification/{row.pk}/change/").content.decode()
    assert "it was not sent through ses, so this counts for nothing" in text


def _at(second: int) -> datetime:
    return datetime(2030, 1, 31, 8, 0, second, tzinfo=UTC)


def test_receipts__of_one_call__are_listed_as_they_happened_wherever_they_are_shown(caller: Any) -> None:
    row = NotificationFactory(client=caller.client, **MAIL)
    told = [(To.ACCEPTED, 1, "z"), (To.DELAYED, 2, "m"), (To.DELIVERED, 3, "k"), (To.OPENED, 4, "a")]
    queue.receive([report(s, key=row.pk, at=_at(second), event_id=name) for s, second, name in told])
    shown = caller.get(f"{NOTIFICATIONS}/{row.pk}").json()["receipts"]
    assert [r["status"] for r in shown] == [s for s, _, _ in told]
    assert [r.status for r in read_history(row).receipts] == [s for s, _, _ in told]


def test_receipts__in_any_order_of_their_coming__are_listed_by_the_time_of_the_provider() -> None:
    row = NotificationFactory(**MAIL)
    for status, second in ((To.OPENED, 9), (To.ACCEPTED, 1), (To.DELIVERED, 5)):
        take(status, key=row.pk, at=_at(second))
    assert [r.status for r in row.receipts.all()] == [To.ACCEPTED, To.DELIVERED, To.OPENED]


def test_receipts__of_one_instant_or_none__are_listed_as_they_came_and_as_they_stood_in_the_call() -> None:
    row = NotificationFactory(**MAIL)
    one_second = [report(To.ACCEPTED, key=row.pk, at=_at(1), event_id=f"e-{9 - n}", code=f"{n}") for n in range(5)]
    queue.receive(one_second)
    assert [r.code for r in row.receipts.all()] == ["0", "1", "2", "3", "4"]
    other = NotificationFactory(**MAIL)
    queue.receive([report(To.ACCEPTED, key=other.pk, event_id=f"f-{9 - n}", code=f"{n}") for n in range(5)])
    assert [r.code for r in other.receipts.all()] == ["0", "1", "2", "3", "4"]


def test_attempts__of_one_instant__are_listed_hop_by_hop_however_they_were_stored(caller: Any) -> None:
    row = NotificationFactory(client=caller.client, **MAIL)
    at = ago(5)
    for number, hop in ((2, 1), (1, 2), (1, 1)):
        AttemptFactory(notification=row, number=number, hop=hop, finished_at=at)
    shown = caller.get(f"{NOTIFICATIONS}/{row.pk}").json()["attempts"]
    assert [(a["number"], a["hop"]) for a in shown] == [(1, 1), (1, 2), (2, 1)]
    assert [(a.number, a.hop) for a in read_history(row).attempts] == [(1, 1), (1, 2), (2, 1)]
