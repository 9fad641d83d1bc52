"""Operators among themselves, and against the workers: each act has one effect, or says that it came too late."""

from __future__ import annotations

import random
import threading
from functools import partial
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models.functions import Now

from notifications import accounts, outcome, queue, services
from notifications.errors import ActedMeanwhile, TooLate
from notifications.models import ActorKind, ApiKey, Notification, OperatorAction
from notifications.queue import Act, Actor, Ending, Selection, Together
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Verdict
from notifyq.runtime import wakeup
from tests.support.api import NOTIFICATIONS, Caller, email
from tests.support.factories import ClientFactory, NotificationFactory
from tests.support.rivals import PATIENT_SECONDS, Rival, run_together
from tests.support.rows import a_client, add, claim, database_now

pytestmark = pytest.mark.django_db(transaction=True)

OPERATOR = Actor(ActorKind.API_KEY, "nq_operator")
ACT = Act(OPERATOR)
RIVALS = 8


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    """Its thread would outlive the test with a connection of its own."""
    monkeypatch.setattr(wakeup._notifier, "ring", lambda: None)


def dead(count: int = 1, **columns) -> list[UUID]:
    client = ClientFactory()
    made = NotificationFactory.create_batch(count, client=client, status=Status.DEAD_LETTERED, **columns)
    return [row.pk for row in made]


def try_to(act):
    try:
        return act().status
    except TooLate:
        return "too late"


def held():
    [wanted] = add()
    [row] = claim()
    assert row.id == wanted
    return row


def rejected(row) -> Ending:
    decision = outcome.after_verdict(
        row.standing,
        Verdict.rejected("unknown_address", ""),
        provider="sandbox",
        may_send_again=True,
        backoff=Backoff(1, 60),
        dice=random.Random(0),
    )
    return Ending(row.id, row.token, decision)


def test_retry__many_operators_at_once__one_has_an_effect() -> None:
    for _ in range(10):
        [wanted] = dead()

        answers = run_together([partial(try_to, partial(services.retry, wanted, OPERATOR))] * RIVALS)

        assert sorted(answers) == [Status.PENDING] + ["too late"] * (RIVALS - 1)
        row = Notification.objects.get(pk=wanted)
        assert (row.operator_retry_count, row.operator_actions.count()) == (1, 1)


def test_retry_many__several_operators_at_once__share_the_rows_without_overlap() -> None:
    dead(300)

    answers = run_together([lambda: services.retry_many(OPERATOR, limit=200).retried_count] * 4)

    assert sum(answers) == 300 - Notification.objects.filter(status=Status.DEAD_LETTERED).count()
    assert set(Notification.objects.filter(status=Status.PENDING).values_list("operator_retry_count", flat=True)) == {1}
    assert OperatorAction.objects.count() == sum(answers)
    while services.retry_many(OPERATOR).retried_count:
        pass
    assert OperatorAction.objects.count() == 300


def test_resolve__two_who_disagree_at_once__one_decides() -> None:
    [wanted] = dead(last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox")

    def say(what):
        return lambda: try_to(lambda: services.resolve(wanted, OPERATOR, outcome=what, reason="x"))

    answers = run_together([say("SENT"), say("FAILED")] * 4)

    assert answers.count("too late") == 7
    assert Notification.objects.get().status == next(a for a in answers if a != "too late")
    assert OperatorAction.objects.count() == 1


def test_resolve_then_retry__retry_waits_and_finds_what_was_decided() -> None:
    [wanted] = dead(last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox")

    with transaction.atomic():
        assert queue.resolve(wanted, Status.SENT, ACT)
        retry = Rival(lambda: queue.retry(wanted, ACT)).start().wait_until_blocked_by_me()

    assert retry.result() is False
    assert Notification.objects.get().status == Status.SENT


def test_reschedule__clicked_twice_at_once__second_click_waits_and_does_nothing() -> None:
    """The state is the same after it as before, so only the record tells the two clicks apart."""
    [wanted] = add()

    def click():
        with services.as_seen(wanted, 0):
            services.reschedule(wanted, None, OPERATOR, delay_seconds=60)

    with transaction.atomic():
        click()
        again = Rival(click).start().wait_until_blocked_by_me()

    with pytest.raises(ActedMeanwhile):
        again.result()
    assert OperatorAction.objects.count() == 1


def test_settle_then_retry__retry_waits_and_takes_it_back() -> None:
    row = held()

    with transaction.atomic():
        assert len(queue.settle([rejected(row)])) == 1
        many = Rival(lambda: queue.retry_many(Selection(finished_before=database_now()), ACT, 10)).start()
        assert many.result() == 0
    assert queue.retry(row.id, ACT)
    assert Notification.objects.get().status == Status.PENDING


def test_retry_then_settle__a_late_verdict_of_the_old_lease_changes_nothing() -> None:
    row = held()
    queue.settle([rejected(row)])

    with transaction.atomic():
        assert queue.retry(row.id, ACT)
        assert Rival(lambda: queue.settle([rejected(row)])).start().result() == []
    assert queue.settle([rejected(row)]) == []
    found = Notification.objects.get()
    assert (found.status, found.attempt_count) == (Status.PENDING, 0)


def test_retry_then_claim__claim_passes_it_over_until_it_is_committed() -> None:
    [wanted] = dead()

    with transaction.atomic():
        assert queue.retry(wanted, ACT)
        assert Rival(claim).start().result() == []
    [row] = claim()
    assert (row.id, row.cycle, row.standing.attempt_number) == (wanted, 2, 1)


def test_reschedule__while_a_claim_is_about_to_commit__waits_and_is_told_no() -> None:
    [wanted] = add()
    later = database_now().replace(year=2090)

    with transaction.atomic():
        assert len(claim()) == 1
        move = Rival(lambda: queue.reschedule(wanted, later, later=True)).start().wait_until_blocked_by_me()

    assert move.result() is False
    assert Notification.objects.get().status == Status.PROCESSING


def test_reschedule_and_claim__in_many_races__it_is_sent_now_or_waits() -> None:
    ids = add(100, due_at=database_now().replace(year=2090))
    later, turn = database_now().replace(year=2091), threading.Barrier(2)

    def in_turn(act):
        def run():
            results = []
            for wanted in ids:
                turn.wait(PATIENT_SECONDS)
                results.append(act(wanted))
                turn.wait(PATIENT_SECONDS)
            return results

        return run

    def make_due_and_move(wanted):
        Notification.objects.filter(pk=wanted).update(due_at=Now())
        return queue.reschedule(wanted, later, later=True)

    moved, claimed = run_together([in_turn(make_due_and_move), in_turn(lambda _: [row.id for row in claim()])])

    for wanted, was_moved, got in zip(ids, moved, claimed, strict=True):
        assert got == ([] if was_moved else [wanted])
        status, due_at = Notification.objects.values_list("status", "due_at").get(pk=wanted)
        assert (status, due_at == later) == ((Status.PENDING, True) if was_moved else (Status.PROCESSING, False))


def test_cancel_together_and_claim__in_many_races__each_is_cancelled_or_claimed() -> None:
    client = a_client()
    for _ in range(20):
        group = uuid4()
        ids = add(10, client=client, group_id=group)
        together = Together(client_ids=[client.pk], group_id=group)

        cancelled, claimed = run_together(
            [partial(queue.cancel_together, together), lambda: [row.id for row in claim(limit=10)]]
        )

        assert cancelled + len(claimed) == 10
        ended = dict(Notification.objects.filter(pk__in=ids).values_list("pk", "status"))
        assert {pk for pk, status in ended.items() if status == Status.PROCESSING} == set(claimed)
        assert queue.count_uncancelled(together) == len(claimed)


def test_cancel_together__while_a_claim_is_about_to_commit__waits_and_counts_it_as_too_late() -> None:
    client, group = a_client(), uuid4()
    add(2, client=client, group_id=group)

    with transaction.atomic():
        assert len(claim()) == 1
        cancel = Rival(lambda: services.cancel_together(client, group_id=group)).start().wait_until_blocked_by_me()

    assert (cancel.result().cancelled_count, cancel.result().too_late_count) == (1, 1)


def test_batch__same_one_many_times_at_once_in_any_order__is_stored_once() -> None:
    caller = Caller()
    caller.get()  # loads the middlewares, which several threads at once cannot
    items = [email(idempotencyKey=f"key-{n:03}") for n in range(100)]

    def send(number):
        shuffled = random.Random(number).sample(items, len(items))
        return lambda: caller.post(f"{NOTIFICATIONS}/batch", body={"notifications": shuffled})

    answers = run_together([send(number) for number in range(6)])

    assert {a.status_code for a in answers} == {200}
    assert [a.json()["rejected"] for a in answers] == [0] * 6
    assert sum(a.json()["created"] for a in answers) == 100
    assert Notification.objects.count() == 100


def test_targets__same_request_many_times_at_once__makes_one_group() -> None:
    caller = Caller()
    caller.get()
    targets = [{"channel": "EMAIL", "recipient": "a@example.com"}, {"channel": "SMS", "recipient": "+14155550100"}]
    body = {"targets": targets, "subject": "s", "body": "b", "idempotencyKey": "k"}

    answers = run_together([lambda: caller.post(body=body)] * RIVALS)

    assert sorted(a.status_code for a in answers) == [200] * (RIVALS - 1) + [201]
    assert len({a.json()["groupId"] for a in answers}) == 1
    assert Notification.objects.count() == 2


def test_new_key__one_form_sent_by_many_at_once__makes_one_key():
    client, form_id = ClientFactory(), uuid4()

    def make():
        try:
            accounts.create_key(client, form_id=form_id)
        except accounts.KeyMadeAlready as problem:
            return problem.api_key.pk
        return "made"

    results = run_together([make] * RIVALS)

    made = ApiKey.objects.get()
    assert sorted(map(str, results)) == sorted(["made"] + [str(made.pk)] * (RIVALS - 1))
