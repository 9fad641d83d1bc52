"""A receipt and whoever else may be at the same notification: each ordered pair, on connections of their own.

A receipt never waits for a row: it is stored, and counts later. Whoever comes after it waits for the moment that it
takes, and finds the row as it left it.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from notifications import outcome, queue
from notifications.channel import OnUnconfirmed
from notifications.models import Notification, Receipt
from notifications.queue import Claimed, Ending
from notifications.queue.outcomes import announce
from notifications.queue.rescue import Safety
from notifications.receipts import DeliveryStatus as To
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Verdict
from tests.support.reports import make_due, report, take, waiting_count
from tests.support.rivals import Rival, run_together
from tests.support.rows import claim
from tests.support.webhook_rows import a_client, an_endpoint, notifications
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db(transaction=True)

TRIED = {"last_used_provider": "sandbox", "attempt_count": 1}
IN_DOUBT = TRIED | {"unconfirmed_provider": "sandbox", "unconfirmed_at": Now()}


def _one(**columns: Any) -> UUID:
    """A notification whose client wants to be told of its end."""
    client = a_client()
    an_endpoint(client=client)
    [row] = notifications(1, client=client, **columns)
    return row


def _tried() -> UUID:
    """One that its provider has refused for the moment, so that it may be asked again."""
    row = _one()
    Notification.objects.filter(pk=row).update(**TRIED)
    return row


def _doubtful(status: Status = Status.PENDING) -> UUID:
    row = _one()
    Notification.objects.filter(pk=row).update(status=status, **IN_DOUBT)
    return row


def _end(row: Claimed, verdict: Verdict) -> list[Ending]:
    decision = outcome.after_verdict(
        row.standing,
        verdict,
        provider="sandbox",
        may_send_again=True,
        backoff=Backoff(1, 60),
        dice=random.Random(0),
    )
    return queue.settle([Ending(row.id, row.token, decision)])


def _reconcile(row: UUID, status: Status) -> int:
    """What asking the provider may lead to: one guarded update, as all who change a state make."""
    is_sent = status is Status.SENT
    with transaction.atomic():
        changed = Notification.objects.filter(pk=row, status=Status.RECONCILING).update(
            status=status,
            unconfirmed_provider="",
            finished_at=Now() if is_sent else None,
            outcome_sequence=F("outcome_sequence") + int(is_sent),
        )
        announce([row] if changed and is_sent else [])
    return changed


def _state() -> tuple[str, str, int]:
    """Its status, its delivery status, and how often its client is told of an end."""
    row = Notification.objects.get()
    return row.status, row.delivery_status, WebhookEvent.objects.count()


def _look_again() -> None:
    make_due()
    queue.look_again()


def test_settle_then_receipt__the_receipt_passes_it_over_and_counts_later() -> None:
    row = _one()
    [held] = claim()
    with transaction.atomic():
        assert len(_end(held, Verdict.accepted("m-1"))) == 1
        Rival(lambda: take(key=row)).start().result()
    assert (_state(), waiting_count()) == ((Status.SENT, "", 1), 1)
    _look_again()
    assert (_state(), waiting_count()) == ((Status.SENT, To.DELIVERED, 1), 0)


def test_receipt_then_settle__the_verdict_waits_for_a_moment_and_is_the_only_end() -> None:
    row = _one()
    [held] = claim()
    with transaction.atomic():
        take(key=row)
        settle = Rival(lambda: _end(held, Verdict.accepted("m-1"))).start().wait_until_blocked_by_me()
    assert len(settle.result()) == 1
    _look_again()
    assert (_state(), waiting_count()) == ((Status.SENT, To.DELIVERED, 1), 0)


def test_receipt_while_it_is_sent_again__the_late_verdict_makes_the_one_end() -> None:
    row = _doubtful()
    [held] = claim()
    take(key=row)
    assert _state() == (Status.PROCESSING, "", 0)
    assert len(_end(held, Verdict.accepted("m-1"))) == 1
    _look_again()
    assert _state() == (Status.SENT, To.DELIVERED, 1)


@pytest.mark.parametrize("wish", list(OnUnconfirmed))
def test_receipt_while_it_is_sent__the_answer_is_lost__it_is_sent_at_once(wish: OnUnconfirmed) -> None:
    row = _one(on_unconfirmed=wish)
    [held] = claim()
    take(key=row, message_id="m-1")
    [ended] = _end(held, Verdict.unconfirmed("timeout"))
    assert (ended.decision.status, _state()) == (Status.SENT, (Status.SENT, "", 1))
    assert Notification.objects.values_list("provider", "provider_message_id").get() == ("sandbox", "m-1")
    _look_again()
    assert (_state(), waiting_count()) == ((Status.SENT, To.DELIVERED, 1), 0)


@pytest.mark.parametrize(("status", "provider"), [(To.REJECTED, "sandbox"), (To.DELIVERED, "another")])
def test_receipt_while_it_is_sent__that_proves_nothing__the_lost_answer_stays_in_doubt(
    status: To, provider: str
) -> None:
    row = _one()
    [held] = claim()
    take(status, key=row, provider=provider)
    _end(held, Verdict.unconfirmed("timeout"))
    assert _state() == (Status.PENDING, "", 0)


def test_receipt_while_its_worker_dies__the_rescue_finds_it_sent() -> None:
    row = _one()
    claim(worker_id="dead")
    take(key=row)
    queue.rescue(lambda channel, recipient, name: Safety("sandbox", False, None), worker_ids=["dead"])
    assert _state() == (Status.SENT, "", 1)
    assert claim() == []


def test_receipt_then_claim__the_claim_passes_it_over_and_finds_nothing_to_send() -> None:
    row = _doubtful()
    with transaction.atomic():
        assert take(key=row).credited.confirmed.total() == 1
        assert Rival(claim).start().result() == []
    assert claim() == []
    assert _state() == (Status.SENT, To.DELIVERED, 1)


def test_claim_then_receipt__the_receipt_waits_for_the_end_of_the_lease() -> None:
    row = _doubtful()
    with transaction.atomic():
        assert len(claim()) == 1
        Rival(lambda: take(key=row)).start().result()
    _look_again()
    assert (_state(), waiting_count()) == ((Status.PROCESSING, "", 0), 1)


def test_receipt_then_cancel__of_one_in_doubt__cancel_is_told_no() -> None:
    row = _doubtful()
    with transaction.atomic():
        take(key=row)
        cancel = Rival(lambda: queue.cancel(row)).start()
    assert cancel.result() is False
    assert _state() == (Status.SENT, To.DELIVERED, 1)


def test_receipt_then_cancel__of_one_without_doubt__both_have_their_way() -> None:
    row = _tried()
    with transaction.atomic():
        take(key=row)
        cancel = Rival(lambda: queue.cancel(row)).start().wait_until_blocked_by_me()
    assert cancel.result() is True
    assert _state()[:2] == (Status.CANCELLED, To.DELIVERED)


def test_cancel_then_receipt__the_receipt_passes_it_over_and_changes_no_state_later() -> None:
    row = _tried()
    with transaction.atomic():
        assert queue.cancel(row) is True
        Rival(lambda: take(key=row)).start().result()
    _look_again()
    assert _state()[:2] == (Status.CANCELLED, To.DELIVERED)


@pytest.mark.parametrize("answer", [Status.SENT, Status.PENDING])
def test_receipt_then_reconcile__the_answer_waits_and_changes_nothing(answer: Status) -> None:
    row = _doubtful(Status.RECONCILING)
    with transaction.atomic():
        assert take(key=row).credited.confirmed.total() == 1
        reconcile = Rival(lambda: _reconcile(row, answer)).start().wait_until_blocked_by_me()
    assert reconcile.result() == 0
    assert _state() == (Status.SENT, To.DELIVERED, 1)


@pytest.mark.parametrize("answer", [Status.SENT, Status.PENDING])
def test_reconcile_then_receipt__its_answer_stands_and_no_second_end_is_told(answer: Status) -> None:
    row = _doubtful(Status.RECONCILING)
    with transaction.atomic():
        assert _reconcile(row, answer) == 1
        Rival(lambda: take(key=row)).start().result()
    _look_again()
    assert _state() == (answer, To.DELIVERED, int(answer is Status.SENT))


def test_receipts__the_same_four_times_at_once__are_one() -> None:
    row = _doubtful()
    taken = run_together([lambda: take(key=row, event_id="e")] * 4)
    assert sum(t.new.total() for t in taken) == 1
    _look_again()
    assert (_state(), Receipt.objects.count()) == ((Status.SENT, To.DELIVERED, 1), 1)


def test_receipts__many_in_opposite_orders_at_once__never_wait_in_a_circle() -> None:
    row = _doubtful()
    reports = [report(key=row, event_id=f"e-{n:03}") for n in range(100)]
    taken = run_together([lambda: queue.receive(reports), lambda: queue.receive(reports[::-1])] * 2)
    assert sum(t.new.total() for t in taken) == 100
    _look_again()
    assert (_state(), waiting_count()) == ((Status.SENT, To.DELIVERED, 1), 0)


def test_look_again__by_four_at_once__confirms_once() -> None:
    row = _doubtful()
    [held] = claim()
    take(key=row)
    queue.release([Ending(held.id, held.token, outcome.given_back(held.standing))])
    make_due()
    passes = run_together([queue.look_again] * 4)
    assert sum(p.confirmed.total() for p in passes) == 1
    assert _state() == (Status.SENT, To.DELIVERED, 1)
