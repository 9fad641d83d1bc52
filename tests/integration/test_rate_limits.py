"""The rate limit at the claim: who is let through, who waits, and what each ending does to the slot."""

import random
from datetime import timedelta
from uuid import uuid4

import pytest

from notifications import outcome, queue
from notifications.channel import Channel, Priority
from notifications.models import Notification
from notifications.queue import AttemptRecord, Ending
from notifications.queue.rescue import Safety
from notifications.retry import Backoff
from notifications.status import Status, WaitingReason
from notifications.verdict import Outcome, Verdict
from notifyq.runtime.instants import rfc3339
from ratelimits import ledger, rules
from ratelimits.models import Gate, RateLimitRule, Slot
from ratelimits.window import Limit
from tests.support.limits import claim_within, claimed_ids, parked_count, pass_time
from tests.support.rows import a_client, add, move

pytestmark = pytest.mark.django_db

HOUR = Limit(3, 3600)
VERDICTS = {
    Outcome.ACCEPTED: Verdict.accepted("m-1"),
    Outcome.REJECTED: Verdict.rejected("no_such_address"),
    Outcome.TEMPORARY: Verdict.temporary("busy"),
    Outcome.PROVIDER_FAULT: Verdict.provider_fault("no_credit"),
    Outcome.UNCONFIRMED: Verdict.unconfirmed("timeout"),
}


def decided(row, verdict):
    return outcome.after_verdict(
        row.standing, verdict, provider="sandbox", may_send_again=True, backoff=Backoff(1, 60), dice=random.Random(0)
    )


def settle(row, verdict):
    attempt = AttemptRecord(1, 1, 1, "sandbox", verdict.outcome, "", "", "", 1.0, 0.0, "worker")
    queue.settle([Ending(row.id, row.token, decided(row, verdict), (attempt,))])


def release(row):
    queue.release([Ending(row.id, row.token, outcome.given_back(row.standing))])


def safety(channel: Channel, recipient: str, name: str) -> Safety:
    return Safety(name or "sandbox", records_start=True, repeat_window_seconds=3600.0)


def rule(channel="", client=None, count: int | None = 1, seconds=3600):
    return rules.store(
        None,
        channel=channel,
        client_id=client and client.pk,
        limit_count=count,
        window_seconds=seconds,
        by="a test",
    )


def test_claim__more_than_the_limit__admits_that_many_and_parks_the_rest_uncounted():
    ids = add(5)
    due = dict(Notification.objects.values_list("pk", "due_at"))

    assert claimed_ids(HOUR) == ids[:3]

    for row in Notification.objects.filter(pk__in=ids[3:]):
        assert (row.status, row.waiting_reason) == (Status.PENDING, WaitingReason.RATE_LIMITED)
        assert (row.attempt_count, row.due_at) == (0, due[row.pk])
    assert claimed_ids(HOUR) == []


def test_claim__one_by_one__counts_what_earlier_claims_took():
    ids = add(4)

    assert [claimed_ids(HOUR, 1) for _ in range(4)] == [[ids[0]], [ids[1]], [ids[2]], []]


def test_claim__many_recipients__each_has_a_limit_of_its_own():
    mine, yours = add(4), add(4, recipient="eve@example.org")

    assert set(claimed_ids(HOUR)) == {*mine[:3], *yours[:3]}


def test_api__parked__shows_why_and_when_it_is_expected(caller):
    ids = add(4, client=caller.client)
    claimed_ids(HOUR)

    shown = caller.get(f"/api/v1/notifications/{ids[3]}").json()

    gate = Gate.objects.get()
    assert (shown["status"], shown["waitingReason"], shown["attemptCount"]) == ("PENDING", "RATE_LIMITED", 0)
    assert shown["dueAt"] == rfc3339(gate.release_at)
    assert gate.release_at - min(Slot.objects.values_list("slot_at", flat=True)) == timedelta(hours=1)


def test_gate__a_slot_leaves_the_window__lets_exactly_one_through():
    ids = add(5)
    claim_within(HOUR, 1)
    pass_time(1000)
    claim_within(HOUR)
    assert queue.release_parked(HOUR) == 0

    pass_time(2601)
    assert queue.release_parked(HOUR) == 1
    assert claimed_ids(HOUR) == [ids[3]]
    assert queue.release_parked(HOUR) == 0

    pass_time(1000)
    assert queue.release_parked(HOUR) == 1
    assert claimed_ids(HOUR) == [ids[4]]
    assert not Gate.objects.exists()


def test_slot__stamped_with_the_last_instant_of_the_send__frees_one_window_after_that():
    add(2)
    claim_within(Limit(1, 60), slot_seconds=21)
    claim_within(Limit(1, 60))

    pass_time(80)
    assert queue.release_parked(Limit(1, 60)) == 0
    pass_time(2)
    assert queue.release_parked(Limit(1, 60)) == 1


def test_deferred__thirty_times__has_all_its_attempts_left():
    one = Limit(1, 60)
    add(31)
    for _ in range(30):
        [row] = claim_within(one)
        settle(row, VERDICTS[Outcome.ACCEPTED])
        assert claim_within(one) == []
        pass_time(61)
        queue.release_parked(one)
    last = Notification.objects.get(status=Status.PENDING)

    assert last.attempt_count == 0
    assert claimed_ids(one) == [last.pk]


@pytest.mark.parametrize("verdict", [Outcome.TEMPORARY, Outcome.REJECTED, Outcome.PROVIDER_FAULT])
def test_slot__certainly_not_sent__is_returned_and_the_gate_opens(verdict):
    ids = add(2)
    [row] = claim_within(Limit(1, 3600), 1)
    assert claimed_ids(Limit(1, 3600)) == []

    settle(row, VERDICTS[verdict])

    assert not Slot.objects.exists()
    assert queue.release_parked(Limit(1, 3600)) == 1
    assert claimed_ids(Limit(1, 3600)) == [ids[1]]


@pytest.mark.parametrize("verdict", [Outcome.ACCEPTED, Outcome.UNCONFIRMED])
def test_slot__sent_or_perhaps_sent__is_kept(verdict):
    add(2)
    [row] = claim_within(Limit(1, 3600), 1)
    claim_within(Limit(1, 3600))

    settle(row, VERDICTS[verdict])

    assert Slot.objects.count() == 1
    assert queue.release_parked(Limit(1, 3600)) == 0


def test_slot__given_back_unstarted__is_returned():
    ids = add(2)
    [row] = claim_within(Limit(1, 3600), 1)
    claim_within(Limit(1, 3600))

    release(row)

    # At its old place in the order it is before the other, which waits behind the gate.
    assert queue.release_parked(Limit(1, 3600)) == 1
    assert sorted(Notification.objects.filter(parked_by=None).values_list("pk", flat=True)) == ids
    assert Slot.objects.get().claim_token is None


def test_slot__expired_in_the_workers_buffer__is_returned():
    add()
    [row] = claim_within(Limit(1, 3600))

    queue.settle([Ending(row.id, row.token, outcome.out_of_time(row.standing))])

    assert not Slot.objects.exists()


@pytest.mark.parametrize(("begun", "kept"), [(True, 1), (False, 0)])
def test_slot__its_worker_died__is_kept_only_if_a_send_was_begun(begun, kept):
    add()
    [row] = claim_within(Limit(1, 3600))
    if begun:
        queue.start_sends([queue.Start(row.id, row.token, "sandbox", 1.0)])

    assert len(queue.rescue(safety, worker_ids=["worker"])) == 1

    assert Slot.objects.count() == kept


def test_settle__repeated__returns_a_slot_only_once():
    add(2)
    [row] = claim_within(Limit(2, 3600), 1)
    settle(row, VERDICTS[Outcome.TEMPORARY])
    assert len(claim_within(Limit(2, 3600))) == 1

    settle(row, VERDICTS[Outcome.TEMPORARY])

    assert Slot.objects.count() == 1


@pytest.mark.parametrize("how", ["cancel", "expire", "expire at the claim"])
def test_reserved_slot__its_holder_ends_before_it_is_claimed__goes_to_the_next(how):
    one = Limit(1, 60)
    ids = add(3)
    claim_within(one)
    pass_time(61)
    queue.release_parked(one)
    if how == "cancel":
        assert queue.cancel(ids[1])
    else:
        move(ids[1], expires_at=-1)
        assert queue.expire().total() == 1 if how == "expire" else claimed_ids(one) == []

    assert queue.release_parked(one) == 1
    assert claimed_ids(one) == [ids[2]]


def test_parked__cancelled_or_past_its_time__ends_as_usual():
    ids = add(3)
    claim_within(Limit(1, 60))
    assert queue.cancel(ids[1])
    move(ids[2], expires_at=-1)

    assert queue.expire().total() == 1

    assert parked_count() == 0
    pass_time(61)
    assert queue.release_parked(Limit(1, 60)) == 0
    assert not Gate.objects.exists()


def test_order__a_high_one_comes_last__takes_the_next_free_slot():
    one = Limit(1, 60)
    add(3)
    claim_within(one)
    [high] = add(priority=Priority.HIGH)
    assert claimed_ids(one) == []

    pass_time(61)
    queue.release_parked(one)

    assert claimed_ids(one) == [high]


def test_order__others_wait_behind_the_gate__a_newcomer_does_not_pass_them():
    one = Limit(1, 60)
    ids = add(2)
    claim_within(one)
    pass_time(61)
    [newcomer] = add()

    assert claimed_ids(one) == []  # the slot is free, but the gate stands

    queue.release_parked(one)
    assert claimed_ids(one) == [ids[1]]
    assert Notification.objects.get(pk=newcomer).parked_by is not None


def test_rules__of_a_channel__take_the_place_of_the_default_at_the_next_claim():
    add(3)
    sms = add(3, channel=Channel.SMS)
    rule("EMAIL", count=2)

    assert len(claimed_ids(Limit(1, 3600))) == 3
    assert Notification.objects.filter(pk__in=sms, status=Status.PROCESSING).count() == 1


def test_rules__of_a_client__count_its_own_alone():
    shop, other = a_client(), a_client()
    add(3, client=shop)
    add(3, client=other)
    rule(client=shop, count=2)

    claim_within(Limit(1, 3600))

    held = Notification.objects.filter(status=Status.PROCESSING)
    assert (held.filter(client=shop).count(), held.filter(client=other).count()) == (2, 1)


def test_rules__one_without_a_limit__lets_all_through():
    add(20)
    rule("EMAIL", count=None)

    assert len(claimed_ids(HOUR)) == 20
    assert not Slot.objects.exists()


@pytest.mark.parametrize("change", ["removed", "raised", "shortened"])
def test_rules__changed_while_rows_are_parked__hold_for_them_too(change, django_capture_on_commit_callbacks):
    ids = add(4)
    made = rule("EMAIL", count=1)
    assert claimed_ids(None) == ids[:1]
    with django_capture_on_commit_callbacks(execute=True):
        if change == "removed":
            rules.remove(made, by="a test")
        else:
            pass_time(120)
            wanted = {"limit_count": 4, "window_seconds": 3600} if change == "raised" else {"limit_count": 3}
            rules.store(
                made.pk, **{"channel": "EMAIL", "client_id": None, "window_seconds": 60, "by": "a test"} | wanted
            )

    assert queue.release_parked(None) == 3
    assert claimed_ids(None) == ids[1:]


def test_rules__a_clients_own_is_removed__what_waits_counts_with_the_others(django_capture_on_commit_callbacks):
    shop = a_client()
    ids = add(4, client=shop)
    made = rule(client=shop, count=1)
    claim_within(Limit(2, 3600))
    with django_capture_on_commit_callbacks(execute=True):
        rules.remove(made, by="a test")

    queue.release_parked(Limit(2, 3600))

    assert claimed_ids(Limit(2, 3600)) == ids[1:3]
    assert parked_count() == 1


def test_rules__twice_the_same__are_refused():
    rule("EMAIL")

    with pytest.raises(rules.RuleTaken):
        rule("EMAIL")
    assert RateLimitRule.objects.count() == 1


def test_limit__lowered_below_what_was_sent__lets_nobody_through_until_enough_has_left():
    add(5)
    claim_within(Limit(3, 60))
    claim_within(Limit(1, 60))

    pass_time(59)
    assert queue.release_parked(Limit(1, 60)) == 0
    pass_time(2)
    assert queue.release_parked(Limit(1, 60)) == 1


def test_prune__old_slots__go_in_batches_and_others_stay():
    bucket = uuid4()
    Slot.objects.bulk_create(
        Slot(bucket=bucket, holder_id=uuid4(), slot_at=f"2020-01-01T00:00:{n:02}Z") for n in range(25)
    )
    add()
    claim_within(HOUR)

    assert [ledger.prune(3600, limit=10) for _ in range(4)] == [10, 10, 5, 0]
    assert Slot.objects.count() == 1
