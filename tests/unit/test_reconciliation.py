"""What follows from a lost answer where the provider can be asked, and from what it says."""

from __future__ import annotations

import random
from itertools import product

import pytest

from notifications import outcome
from notifications.channel import OnUnconfirmed
from notifications.outcome import Decision, Standing
from notifications.reconciliation import Doubt, after_finding
from notifications.retry import Backoff
from notifications.status import Status, allowed
from notifications.verdict import Finding, Found, Verdict

RETRY, HOLD = OnUnconfirmed.RETRY, OnUnconfirmed.HOLD
FINDINGS = {
    Found.ACCEPTED: Finding.accepted("m-1"),
    Found.REJECTED: Finding.rejected("bad_number", "refused"),
    Found.ABSENT: Finding.absent(),
    Found.UNKNOWN: Finding.unknown("http_503", "down"),
}
LOST_ANSWER = Verdict.unconfirmed("read_timeout", "no answer")


def _verdict(
    standing: Standing,
    verdict: Verdict = LOST_ANSWER,
    *,
    may_send_again: bool = False,
    ask: float | None = 2.0,
    at_least: float = 0.0,
) -> Decision:
    return outcome.after_verdict(
        standing,
        verdict,
        provider="p",
        may_send_again=may_send_again,
        backoff=Backoff(1.0, 60.0),
        dice=random.Random(1),
        at_least_seconds=at_least,
        ask_wait_seconds=ask,
    )


def _lost(standing: Standing, *, begun: bool = True, may_send_again: bool = False) -> Decision:
    return outcome.after_loss(standing, provider="p", begun=begun, may_send_again=may_send_again, ask_wait_seconds=2.0)


def _found(
    found: Found, *, left: float = 1000.0, past_ttl: bool = False, asked: int = 1, **standing: object
) -> Decision:
    fields = {"attempt_number": 1, "max_attempts": 6, "unconfirmed_provider": "p"} | standing
    doubt = Doubt(Standing(**fields), asked, left, past_ttl)
    return after_finding(doubt, FINDINGS[found], backoff=Backoff(2.0, 600.0), dice=random.Random(1))


@pytest.mark.parametrize(
    ("may_send_again", "ask", "wish", "attempt", "expected"),
    [
        (True, 2.0, HOLD, 1, Status.PENDING),  # the repeat is dropped: no need to ask
        (True, 2.0, HOLD, 6, Status.RECONCILING),  # none left
        (False, 2.0, RETRY, 1, Status.RECONCILING),
        (False, 2.0, HOLD, 1, Status.RECONCILING),
        (False, 2.0, RETRY, 6, Status.RECONCILING),
        (False, None, RETRY, 1, Status.PENDING),
        (False, None, HOLD, 1, Status.DEAD_LETTERED),
        (False, None, RETRY, 6, Status.DEAD_LETTERED),
    ],
)
def test_after_verdict__unconfirmed__is_repeated_where_safe_else_asked_about_else_what_the_client_wants(
    may_send_again: bool, ask: float | None, wish: OnUnconfirmed, attempt: int, expected: Status
) -> None:
    decision = _verdict(Standing(attempt, 6, wish), may_send_again=may_send_again, ask=ask)
    assert (decision.status, decision.unconfirmed_provider, decision.refund) == (expected, "p", 0)


def test_after_verdict__to_be_asked__waits_for_the_settling_time_or_what_the_vendor_wishes() -> None:
    assert _verdict(Standing(1, 6)).wait_seconds == 2.0
    assert _verdict(Standing(1, 6), at_least=30.0).wait_seconds == 30.0
    assert _verdict(Standing(1, 6)).error_code == "read_timeout"
    assert not _verdict(Standing(1, 6)).not_sent


def test_after_verdict__certainly_not_sent__asks_only_about_an_earlier_send_and_with_no_attempt_left() -> None:
    busy = Verdict.temporary("busy")
    assert _verdict(Standing(6, 6), busy).status is Status.DEAD_LETTERED
    assert _verdict(Standing(2, 6, unconfirmed_provider="p"), busy).status is Status.PENDING
    last = _verdict(Standing(6, 6, unconfirmed_provider="p"), busy)
    assert (last.status, last.unconfirmed_provider, last.not_sent) == (Status.RECONCILING, "p", True)


def test_after_verdict__a_copy_is_rejected_by_one_that_can_be_asked__asks_about_the_earlier_one() -> None:
    decision = _verdict(Standing(2, 6, unconfirmed_provider="p"), Verdict.rejected("no_such_address"))
    assert (decision.status, decision.unconfirmed_provider) == (Status.RECONCILING, "p")
    assert _verdict(Standing(1, 6), Verdict.rejected("no_such_address")).status is Status.FAILED


def test_after_verdict__the_final_check_is_no_proof_either__asks() -> None:
    final = Standing(7, 6, unconfirmed_provider="p", final_check=True, suspect=True)
    assert _verdict(final, may_send_again=True).status is Status.RECONCILING


@pytest.mark.parametrize("wish", [RETRY, HOLD])
def test_after_loss__begun_where_it_can_be_asked__is_asked_about_and_alone_from_here_on(wish: OnUnconfirmed) -> None:
    in_company = _lost(Standing(6, 6, wish))
    assert (in_company.status, in_company.refund, in_company.suspect) == (Status.RECONCILING, 1, True)
    assert (in_company.unconfirmed_provider, in_company.wait_seconds) == ("p", 2.0)
    alone = _lost(Standing(2, 6, wish, suspect=True))
    assert (alone.status, alone.refund, alone.suspect) == (Status.RECONCILING, 0, True)


def test_after_loss__a_repeat_is_dropped__sends_once_more_and_asks_only_after_that() -> None:
    assert _lost(Standing(2, 6), may_send_again=True).status is Status.PENDING
    last = _lost(Standing(6, 6, suspect=True), may_send_again=True)
    assert (last.status, last.final_check) == (Status.PENDING, True)
    checked = _lost(Standing(7, 6, unconfirmed_provider="p", suspect=True, final_check=True), may_send_again=True)
    assert (checked.status, checked.final_check) == (Status.RECONCILING, False)


def test_after_loss__not_begun__asks_only_about_an_earlier_send_and_with_no_attempt_left() -> None:
    assert _lost(Standing(6, 6, suspect=True), begun=False).status is Status.DEAD_LETTERED
    assert _lost(Standing(2, 6, suspect=True, unconfirmed_provider="p"), begun=False).status is Status.PENDING
    earlier = _lost(Standing(6, 6, suspect=True, unconfirmed_provider="p"), begun=False)
    assert (earlier.status, earlier.not_sent) == (Status.RECONCILING, True)


def test_to_be_asked__used_no_attempt() -> None:
    decision = outcome.to_be_asked(Standing(2, 6, HOLD, unconfirmed_provider="p", suspect=True), 3.0)
    assert (decision.status, decision.refund, decision.wait_seconds) == (Status.RECONCILING, 1, 3.0)
    assert (decision.unconfirmed_provider, decision.suspect, decision.not_sent) == ("p", True, True)


@pytest.mark.parametrize("left", [1000.0, 0.0])
def test_after_finding__accepted_or_rejected__ends_it_whenever_it_is_said(left: float) -> None:
    sent = _found(Found.ACCEPTED, left=left, past_ttl=True, suspect=True)
    assert sent == Decision(Status.SENT, provider="p", provider_message_id="m-1")
    failed = _found(Found.REJECTED, left=left)
    assert failed == Decision(Status.FAILED, error_code="bad_number", error_message="refused", not_sent=True)


@pytest.mark.parametrize("wish", [RETRY, HOLD])
def test_after_finding__absent__is_sent_again_by_anybody_and_its_slot_is_free(wish: OnUnconfirmed) -> None:
    decision = _found(Found.ABSENT, on_unconfirmed=wish, suspect=True)
    assert (decision.status, decision.wait_seconds, decision.refund) == (Status.PENDING, 0.0, 0)
    assert (decision.unconfirmed_provider, decision.not_sent, decision.suspect) == ("", True, True)


def test_after_finding__absent_with_no_attempt_left__is_dead_lettered_and_not_as_unconfirmed() -> None:
    decision = _found(Found.ABSENT, attempt_number=6, suspect=True)
    assert (decision.status, decision.error_code) == (Status.DEAD_LETTERED, "not_received")
    assert (decision.unconfirmed_provider, decision.suspect, decision.not_sent) == ("", False, True)


@pytest.mark.parametrize("attempt", [1, 6])
def test_after_finding__absent_past_its_ttl__is_expired(attempt: int) -> None:
    decision = _found(Found.ABSENT, past_ttl=True, attempt_number=attempt)
    assert (decision.status, decision.error_code, decision.not_sent) == (Status.EXPIRED, "expired", True)


@pytest.mark.parametrize("found", [Found.ABSENT, Found.UNKNOWN])
@pytest.mark.parametrize(
    ("wish", "attempt", "past_ttl", "expected"),
    [
        (RETRY, 1, False, Status.PENDING),
        (RETRY, 6, False, Status.DEAD_LETTERED),
        (RETRY, 1, True, Status.DEAD_LETTERED),
        (HOLD, 1, False, Status.DEAD_LETTERED),
    ],
)
def test_after_finding__beyond_the_horizon__is_what_the_client_wants(
    found: Found, wish: OnUnconfirmed, attempt: int, past_ttl: bool, expected: Status
) -> None:
    decision = _found(found, left=0.0, on_unconfirmed=wish, attempt_number=attempt, past_ttl=past_ttl)
    assert (decision.status, decision.error_code, decision.unconfirmed_provider) == (expected, "UNCONFIRMED", "p")
    assert not decision.not_sent


@pytest.mark.parametrize("past_ttl", [True, False])
def test_after_finding__unknown__stays_and_is_asked_again_ever_later(past_ttl: bool) -> None:
    waits = [_found(Found.UNKNOWN, asked=n, left=1e6, past_ttl=past_ttl, suspect=True) for n in (1, 2, 9, 30)]
    assert {d.status for d in waits} == {Status.RECONCILING}
    assert all(d.suspect and d.unconfirmed_provider == "p" and not d.not_sent for d in waits)
    longest = (2.0, 4.0, 512.0, 600.0)
    assert all(top / 2 <= (d.wait_seconds or 0) <= top for d, top in zip(waits, longest, strict=True))


def test_after_finding__unknown_near_the_horizon__is_asked_a_last_time_then() -> None:
    assert _found(Found.UNKNOWN, asked=30, left=7.0).wait_seconds == 7.0


def test_after_finding__unknown_and_asked_to_wait__waits_at_least_so_long_but_no_more_than_an_hour() -> None:
    doubt = Doubt(Standing(1, 6, unconfirmed_provider="p"), 1, 1e6, is_past_ttl=False)
    for wish, least in ((90.0, 90.0), (1e9, 3600.0)):
        finding = Finding.unknown("http_429", retry_after_seconds=wish)
        wait = after_finding(doubt, finding, backoff=Backoff(2.0, 600.0), dice=random.Random(1)).wait_seconds
        assert wait is not None
        assert least <= wait <= least + 1.0


def test_after_finding__of_every_kind__keeps_to_the_table_and_to_the_checks_of_the_database() -> None:
    kinds = product(Found, (1, 6), (RETRY, HOLD), (1000.0, 0.0), (True, False))
    for found, attempt, wish, left, past_ttl in kinds:
        decision = _found(found, left=left, past_ttl=past_ttl, attempt_number=attempt, on_unconfirmed=wish)
        if decision.status is not Status.RECONCILING:
            assert allowed(Status.RECONCILING, decision.status, by="reconcile"), decision
        if decision.status is Status.PENDING:
            assert attempt < 6
        assert decision.refund == 0
        if decision.status in (Status.EXPIRED, Status.CANCELLED):
            assert found is Found.ABSENT
