"""Asking the providers: what each answer does to the row, its history, its limit, and to whoever may touch it."""

from __future__ import annotations

import random
import threading
from typing import Any
from uuid import UUID

import pytest

from notifications import outcome, queue, services
from notifications.channel import Channel, OnUnconfirmed
from notifications.errors import TooLate
from notifications.models import LookUp, Notification
from notifications.outcome import Decision, Standing
from notifications.providers.base import Message
from notifications.queue import AttemptRecord, Claimer, Ending, Limits, outcomes
from notifications.reconciliation import NOT_ASKABLE_SECONDS
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Finding, Found, Outcome, Verdict
from ratelimits.models import Slot
from ratelimits.window import Limit
from tests.support.askable import (
    HORIZON_SECONDS,
    Askable,
    claimed_now,
    due_in_seconds,
    in_doubt,
    is_put_off,
    reconciler,
    said,
)
from tests.support.limits import claim_within
from tests.support.rows import add, attempts_of, database_now, move

pytestmark = pytest.mark.django_db

ACCEPTED, ABSENT = Finding.accepted("m-1"), Finding.absent()
REJECTED = Finding.rejected("bad_number", "refused")
UNKNOWN = Finding.unknown("http_503", "down")


def _row(identity: UUID) -> Notification:
    return Notification.objects.get(pk=identity)


def _is_free(row: Notification) -> bool:
    return row.claim_token is None and not row.worker_id and row.lease_expires_at is None


def test_run_pass__accepted__is_sent_with_the_vendors_id_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[UUID] = []
    monkeypatch.setattr(outcomes, "_listeners", [told.extend])
    [wanted] = in_doubt()
    report = reconciler(Askable(ACCEPTED)).run_pass()
    assert (dict(report.found), dict(report.became)) == ({"ACCEPTED": 1}, {"SENT": 1})
    row = _row(wanted)
    assert (row.status, row.provider, row.provider_message_id) == (Status.SENT, "p", "m-1")
    assert (row.unconfirmed_provider, row.unconfirmed_at, row.last_error_code) == ("", None, "")
    assert (row.attempt_count, row.outcome_sequence, told) == (1, 1, [wanted])
    assert row.finished_at == row.reconciled_at == row.due_at
    assert _is_free(row)
    assert said(wanted) == [("ACCEPTED", "", 1)]


def test_run_pass__asks_with_what_was_sent_and_since_when() -> None:
    [wanted] = in_doubt(age_seconds=10, body="What was sent")
    vendor = Askable(ACCEPTED)
    began = _row(wanted).unconfirmed_at
    reconciler(vendor, timeout_seconds=3.0).run_pass()
    assert vendor.last is not None
    message, since, timeout_seconds = vendor.last
    assert (message.id, message.recipient, message.body) == (wanted, "ada@example.org", "What was sent")
    assert (since, timeout_seconds) == (began, 3.0)


def test_run_pass__rejected__is_failed_with_the_vendors_reason() -> None:
    [wanted] = in_doubt()
    reconciler(Askable(REJECTED)).run_pass()
    row = _row(wanted)
    assert (row.status, row.last_error_code, row.outcome_sequence) == (Status.FAILED, "bad_number", 1)
    assert said(wanted) == [("REJECTED", "bad_number", 1)]


def test_run_pass__absent__waits_to_be_sent_again_at_once_by_whoever() -> None:
    [wanted] = in_doubt()
    reconciler(Askable(ABSENT)).run_pass()
    row = _row(wanted)
    assert (row.status, row.attempt_count, row.unconfirmed_provider) == (Status.PENDING, 1, "")
    assert (row.unconfirmed_at, row.outcome_sequence, row.last_error_code) == (None, 0, "not_received")
    assert claimed_now() == [wanted]


@pytest.mark.parametrize(
    ("fields", "expires_in", "expected"),
    [({"max_attempts": 1}, None, Status.DEAD_LETTERED), ({}, -1.0, Status.EXPIRED)],
)
def test_run_pass__absent_and_no_attempt_or_time_left__ends_as_not_sent(
    fields: dict[str, Any], expires_in: float | None, expected: Status
) -> None:
    [wanted] = in_doubt(**fields)
    if expires_in is not None:
        move(wanted, expires_at=expires_in)
    reconciler(Askable(ABSENT)).run_pass()
    row = _row(wanted)
    assert (row.status, row.unconfirmed_provider, row.outcome_sequence) == (expected, "", 1)


def test_run_pass__absent_though_it_was_lost_with_its_worker__is_claimed_alone() -> None:
    [wanted] = in_doubt()
    Notification.objects.update(suspect=True)
    reconciler(Askable(ABSENT)).run_pass()
    assert _row(wanted).suspect
    assert claimed_now() == []


@pytest.mark.parametrize(("finding", "left"), [(ABSENT, 0), (REJECTED, 0), (ACCEPTED, 1), (UNKNOWN, 1)])
def test_run_pass__gives_back_its_part_of_a_limit_only_when_nothing_was_sent(finding: Finding, left: int) -> None:
    add()
    [held] = claim_within(Limit(1, 3600))
    record = AttemptRecord(1, 1, 1, "p", Outcome.UNCONFIRMED, "read_timeout", "", "", 1.0, 0.0, "worker")
    decision = _after(Verdict.unconfirmed("read_timeout"), held.standing)
    assert queue.settle([Ending(held.id, held.token, decision, (record,))])
    move(held.id, due_at=-1)
    assert Slot.objects.count() == 1
    reconciler(Askable(finding)).run_pass()
    assert Slot.objects.count() == left


def _after(verdict: Verdict, standing: Standing) -> Decision:
    return outcome.after_verdict(
        standing,
        verdict,
        provider="p",
        may_send_again=False,
        backoff=Backoff(1, 60),
        dice=random.Random(0),
        ask_wait_seconds=2.0,
    )


def test_settle__to_be_asked__is_due_for_it_after_the_settling_time_and_knows_when_the_send_may_have_begun() -> None:
    add()
    [held] = claim_within(None)
    queue.start_sends([queue.Start(held.id, held.token, "p", 1.0)])
    began = _row(held.id).send_started_at
    queue.settle([Ending(held.id, held.token, _after(Verdict.unconfirmed("read_timeout"), held.standing))])
    row = _row(held.id)
    assert (row.status, row.unconfirmed_provider, row.unconfirmed_at) == (Status.RECONCILING, "p", began)
    assert 1.5 < due_in_seconds(held.id) <= 2.0
    assert _is_free(row)
    vendor = Askable(ACCEPTED)
    assert not reconciler(vendor).run_pass().found  # not before


def _breaks(message: Message) -> Finding:
    raise SystemExit(f"for {message.recipient}")


@pytest.mark.parametrize(
    ("says", "code"),
    [(UNKNOWN, "http_503"), (_breaks, "bug"), (lambda _: None, "bug")],
    ids=["unknown", "raises", "no finding"],
)
def test_run_pass__nothing_is_known__stays_is_asked_again_later_and_says_so_in_one_line(
    says: Any, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    [wanted] = in_doubt()
    vendor = Askable(says)
    assert dict(reconciler(vendor).run_pass().became) == {"RECONCILING": 1}
    assert not reconciler(vendor).run_pass().found  # it is not due again yet
    assert 0.9 < due_in_seconds(wanted) <= 2.0
    move(wanted, due_at=-1)
    reconciler(vendor).run_pass()
    row = _row(wanted)
    assert (row.status, row.last_error_code, row.look_up_count) == (Status.RECONCILING, "read_timeout", 2)
    assert 1.9 < due_in_seconds(wanted) <= 4.0
    assert row.reconciled_at is not None
    assert _is_free(row)
    assert said(wanted) == [("UNKNOWN", code, 2)]
    assert "ada@example.org" not in caplog.text


@pytest.mark.parametrize("finding", [ABSENT, UNKNOWN])
@pytest.mark.parametrize(
    ("wish", "expected"), [(OnUnconfirmed.RETRY, Status.PENDING), (OnUnconfirmed.HOLD, Status.DEAD_LETTERED)]
)
def test_run_pass__beyond_the_horizon__is_what_the_client_wants_and_stays_with_its_provider(
    wish: OnUnconfirmed, expected: Status, finding: Finding
) -> None:
    [wanted] = in_doubt(age_seconds=HORIZON_SECONDS, on_unconfirmed=wish)
    reconciler(Askable(finding)).run_pass()
    row = _row(wanted)
    assert (row.status, row.unconfirmed_provider, row.last_error_code) == (expected, "p", "UNCONFIRMED")
    assert row.unconfirmed_at is not None


def test_run_pass__beyond_the_horizon_and_accepted_after_all__is_sent() -> None:
    [wanted] = in_doubt(age_seconds=2 * HORIZON_SECONDS)
    reconciler(Askable(ACCEPTED)).run_pass()
    assert _row(wanted).status == Status.SENT


@pytest.mark.parametrize(
    "left", [Askable(ACCEPTED, "another"), Askable(ACCEPTED, can_be_asked=False)], ids=["gone", "no longer asked"]
)
def test_run_pass__its_provider_cannot_be_asked_any_more__waits_an_hour_from_the_send_and_then_does_as_wanted(
    left: Askable,
) -> None:
    [fresh] = in_doubt(age_seconds=NOT_ASKABLE_SECONDS - 60)
    [old] = in_doubt(age_seconds=NOT_ASKABLE_SECONDS)
    [held] = in_doubt(age_seconds=NOT_ASKABLE_SECONDS, on_unconfirmed=OnUnconfirmed.HOLD)
    reconciler(left).run_pass()
    assert [_row(i).status for i in (fresh, old, held)] == [
        Status.RECONCILING,
        Status.PENDING,
        Status.DEAD_LETTERED,
    ]
    assert said(fresh) == [("UNKNOWN", "not_askable", 1)]
    assert not left.asked


def test_reconciling__past_its_ttl__is_neither_expired_nor_cancelled() -> None:
    [wanted] = in_doubt()
    move(wanted, expires_at=-1)
    assert queue.expire().total() == 0
    row = _row(wanted)
    with pytest.raises(TooLate) as refused:
        services.cancel(wanted, row.client)
    assert refused.value.may_have_been_sent
    assert queue.cancel(wanted) is False
    assert claimed_now() == []
    assert _row(wanted).status == Status.RECONCILING


@pytest.mark.parametrize("by", ["expiry", "claim"])
def test_expiry__an_earlier_send_is_in_doubt_and_can_be_asked_about__is_asked_about(by: str) -> None:
    asked, gone, never_sent = add(3)
    for identity in (asked, gone, never_sent):
        move(identity, expires_at=-1)
    for identity, provider in ((asked, "p"), (gone, "gone")):
        Notification.objects.filter(pk=identity).update(unconfirmed_provider=provider, final_check=True)
    askable, before = {(Channel.EMAIL, "p"): 2.0}, database_now()
    if by == "expiry":
        moved = queue.expire(askable=askable)
    else:
        moved = queue.claim(Claimer("worker", 60, Limits(None, 60), askable=askable), 10).expired
    assert {status: n for (status, _), n in moved.items()} == {"RECONCILING": 1, "DEAD_LETTERED": 1, "EXPIRED": 1}
    row = _row(asked)
    assert (row.status, row.outcome_sequence, row.finished_at) == (Status.RECONCILING, 0, None)
    assert (row.unconfirmed_provider, row.final_check) == ("p", False)
    assert is_put_off(asked, 2.0, since=before)
    move(asked, due_at=-1)
    reconciler(Askable(ABSENT)).run_pass()
    assert [_row(i).status for i in (asked, gone, never_sent)] == ["EXPIRED", "DEAD_LETTERED", "EXPIRED"]


def test_run_pass__everything_is_paused__asks_all_the_same_and_sends_nothing() -> None:
    services.pause("ALL", by="a test")
    [sent] = in_doubt()
    vendor = Askable(lambda m: ACCEPTED if m.id == sent else ABSENT)
    [waits] = in_doubt()
    reconciler(vendor).run_pass()
    assert (_row(sent).status, _row(waits).status) == (Status.SENT, Status.PENDING)
    assert claimed_now() == []


def test_take_askings__one_that_died_while_asking__is_followed_by_another_and_its_answer_is_stale() -> None:
    [wanted] = in_doubt()
    first, second = UUID(int=1), UUID(int=2)
    assert [a.id for a in _take("dead", first)] == [wanted]
    assert _take("other", second) == []
    move(wanted, due_at=0)
    [asking] = _take("other", second)
    assert asking.asked_count == 2
    assert queue.settle_askings([_sent(wanted, first)]) == []
    assert (_row(wanted).status, said(wanted)) == (Status.RECONCILING, [])
    assert len(queue.settle_askings([_sent(wanted, second)])) == 1
    assert queue.settle_askings([_sent(wanted, second)]) == []
    assert said(wanted) == [("ACCEPTED", "", 1)]


def test_free_askings__of_a_dead_worker__are_asked_about_by_others_ever_later() -> None:
    ids = in_doubt(2)
    _take("dead", UUID(int=1))
    Notification.objects.filter(pk=ids[1]).update(look_up_count=31_999)
    before = database_now()
    assert queue.free_askings(["dead", "gone"]) == 2
    assert queue.free_askings(["dead"]) == 0
    assert is_put_off(ids[0], 2, since=before)
    assert is_put_off(ids[1], 512, since=before)
    assert all(_is_free(_row(identity)) for identity in ids)


def test_free_askings__in_good_order__are_due_at_once() -> None:
    [wanted] = in_doubt()
    _take("leaves", UUID(int=1))
    queue.free_askings(["leaves"], at_once=True)
    assert [a.id for a in _take("other", UUID(int=2))] == [wanted]


def _take(worker_id: str, token: UUID) -> list[queue.Asking]:
    return queue.take_askings("p", 10, worker_id=worker_id, token=token, lease_seconds=60)


def _sent(identity: UUID, token: UUID) -> Ending:
    decision = Decision(Status.SENT, provider="p", provider_message_id="m-1")
    return Ending(identity, token, decision, asked=queue.LookUpRecord(1, "p", Found.ACCEPTED))


def test_run_once__one_provider_answers_slowly__the_others_are_asked_meanwhile() -> None:
    go_on = threading.Event()

    def slowly(_: Message) -> Finding:
        assert go_on.wait(30)
        return ACCEPTED

    slow, quick = Askable(slowly, "slow"), Askable(ACCEPTED, "quick")
    slow_ids, quick_ids = in_doubt(30, provider="slow"), in_doubt(3, provider="quick")
    asker = reconciler(slow, quick)
    try:
        settled = asker.run_once()[0].became["SENT"]
        while settled < len(quick_ids):
            asker._await(5)
            settled += asker.run_once()[0].became["SENT"]
        assert {_row(i).status for i in quick_ids} == {Status.SENT}
        taken = Notification.objects.filter(pk__in=slow_ids, claim_token__isnull=False).count()
        assert taken == 16  # no more than it can ask in time
    finally:
        go_on.set()
    asker._end()


def test_settle_askings__the_database_refuses_a_vendors_text__the_state_is_written_without_it() -> None:
    ids = in_doubt(3)
    answers = {ids[0]: Finding.rejected("bad\0code"), ids[1]: Finding.unknown("x"), ids[2]: ACCEPTED}
    # Made by hand, as a careless adapter could: the constructors clean what they are given.
    object.__setattr__(answers[ids[0]], "error_code", "bad\0code")
    object.__setattr__(answers[ids[1]], "error_message", "bad\0text")
    reconciler(Askable(lambda m: answers[m.id])).run_pass()
    assert [_row(i).status for i in ids] == [Status.FAILED, Status.RECONCILING, Status.SENT]
    assert said(ids[0]) == [("REJECTED", "unreadable", 1)]
    assert said(ids[1]) == [("UNKNOWN", "unreadable", 1)]


def test_providers_in_doubt__names_each_once_whose_first_is_due() -> None:
    for name in ("b", "a", "c"):
        in_doubt(3, provider=name)
    [later] = in_doubt(provider="d")
    move(later, due_at=60)
    add(2)
    assert queue.providers_in_doubt() == ["a", "b", "c"]


def test_history__of_a_deleted_notification__goes_with_it() -> None:
    [wanted] = in_doubt()
    reconciler(Askable(UNKNOWN)).run_pass()
    assert LookUp.objects.count() == 1
    _row(wanted).content.delete()
    Notification.objects.filter(pk=wanted)._raw_delete("default")
    assert not LookUp.objects.exists()


def test_attempts__are_not_made_of_questions() -> None:
    [wanted] = in_doubt()
    reconciler(Askable(ACCEPTED)).run_pass()
    assert attempts_of(wanted) == []
