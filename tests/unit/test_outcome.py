"""Every branch of what follows from an attempt."""

from __future__ import annotations

import random
from itertools import product

import pytest

from notifications import outcome
from notifications.channel import OnUnconfirmed
from notifications.outcome import Decision, Standing
from notifications.retry import Backoff
from notifications.status import Status, WaitingReason, allowed
from notifications.verdict import Outcome, Verdict

BACKOFF = Backoff(1.0, 60.0)
VERDICTS = {
    Outcome.ACCEPTED: Verdict.accepted("m-1"),
    Outcome.REJECTED: Verdict.rejected("no_such_address", "refused"),
    Outcome.TEMPORARY: Verdict.temporary("busy", "later"),
    Outcome.PROVIDER_FAULT: Verdict.provider_fault("http_401", "who are you?"),
    Outcome.UNCONFIRMED: Verdict.unconfirmed("read_timeout", "no answer"),
}
RETRY, HOLD = OnUnconfirmed.RETRY, OnUnconfirmed.HOLD


def _decide(
    verdict: Outcome,
    standing: Standing,
    *,
    may_send_again: bool = False,
    at_least_seconds: float = 0.0,
    ask_wait_seconds: float | None = None,
) -> Decision:
    return outcome.after_verdict(
        standing,
        VERDICTS[verdict],
        provider="p",
        may_send_again=may_send_again,
        backoff=BACKOFF,
        dice=random.Random(1),
        at_least_seconds=at_least_seconds,
        ask_wait_seconds=ask_wait_seconds,
    )


def test_after_verdict__accepted__is_sent_with_the_proof_and_nothing_stays_open() -> None:
    decision = _decide(Outcome.ACCEPTED, Standing(6, 6, HOLD, unconfirmed_provider="p", suspect=True))
    assert decision == Decision(Status.SENT, provider="p", provider_message_id="m-1")
    assert decision.is_final


def test_after_verdict__rejected__is_failed_whatever_attempts_are_left() -> None:
    decision = _decide(Outcome.REJECTED, Standing(1, 6))
    assert decision == Decision(Status.FAILED, error_code="no_such_address", error_message="refused", not_sent=True)


def test_after_verdict__rejected_after_one_that_may_have_been_sent__is_for_a_person_unless_the_key_tells() -> None:
    unsure = Standing(2, 6, unconfirmed_provider="p")
    held = _decide(Outcome.REJECTED, unsure)
    assert (held.status, held.error_code, held.unconfirmed_provider) == (Status.DEAD_LETTERED, "UNCONFIRMED", "p")
    assert _decide(Outcome.REJECTED, unsure, may_send_again=True).status == Status.FAILED


@pytest.mark.parametrize("attempt_number", [1, 6])
@pytest.mark.parametrize("verdict", list(VERDICTS))
def test_after_verdict__of_any_kind__gives_back_its_part_of_a_limit_only_when_nothing_was_sent(
    verdict: Outcome, attempt_number: int
) -> None:
    decision = _decide(verdict, Standing(attempt_number, 6))
    assert decision.not_sent == (verdict not in (Outcome.ACCEPTED, Outcome.UNCONFIRMED))


@pytest.mark.parametrize("suspect", [True, False])
@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("attempt_number", [1, 6])
def test_after_loss__gives_back_its_part_of_a_limit_only_when_no_send_was_begun(
    attempt_number: int, begun: bool, suspect: bool
) -> None:
    standing = Standing(attempt_number, 6, suspect=suspect)
    assert outcome.after_loss(standing, provider="p", begun=begun, may_send_again=True).not_sent is not begun


@pytest.mark.parametrize("verdict", [Outcome.TEMPORARY, Outcome.PROVIDER_FAULT])
def test_after_verdict__certainly_not_sent_and_attempts_left__waits_for_a_retry(verdict: Outcome) -> None:
    decision = _decide(verdict, Standing(2, 6, HOLD, suspect=True))
    assert (decision.status, decision.waiting_reason) == (Status.PENDING, WaitingReason.RETRY_BACKOFF)
    assert decision.wait_seconds is not None
    assert 1.0 < decision.wait_seconds <= 2.0
    assert (decision.refund, decision.suspect, decision.unconfirmed_provider) == (0, False, "")
    assert decision.error_code == VERDICTS[verdict].error_code


@pytest.mark.parametrize("verdict", [Outcome.TEMPORARY, Outcome.PROVIDER_FAULT])
def test_after_verdict__certainly_not_sent_and_none_left__is_dead_lettered_with_its_code(verdict: Outcome) -> None:
    decision = _decide(verdict, Standing(6, 6))
    assert (decision.status, decision.error_code) == (Status.DEAD_LETTERED, VERDICTS[verdict].error_code)


def test_after_verdict__temporary_while_an_earlier_attempt_is_open__keeps_it_open() -> None:
    again = _decide(Outcome.TEMPORARY, Standing(2, 6, unconfirmed_provider="q"))
    assert (again.status, again.unconfirmed_provider) == (Status.PENDING, "q")
    last = _decide(Outcome.TEMPORARY, Standing(6, 6, unconfirmed_provider="q"))
    assert (last.status, last.error_code, last.unconfirmed_provider) == (Status.DEAD_LETTERED, "UNCONFIRMED", "q")


def test_after_verdict__asked_to_wait__waits_at_least_so_long() -> None:
    decision = _decide(Outcome.TEMPORARY, Standing(1, 6), at_least_seconds=30.0)
    assert decision.wait_seconds is not None
    assert 30.0 <= decision.wait_seconds <= 30.5


@pytest.mark.parametrize(
    ("wish", "may_send_again", "attempt", "status"),
    [
        (RETRY, True, 1, Status.PENDING),
        (RETRY, False, 1, Status.PENDING),
        (HOLD, True, 1, Status.PENDING),
        (HOLD, False, 1, Status.DEAD_LETTERED),
        (RETRY, True, 6, Status.DEAD_LETTERED),
        (HOLD, True, 6, Status.DEAD_LETTERED),
    ],
)
def test_after_verdict__unconfirmed__is_repeated_only_where_that_is_safe_or_wanted(
    wish: OnUnconfirmed, may_send_again: bool, attempt: int, status: Status
) -> None:
    decision = _decide(Outcome.UNCONFIRMED, Standing(attempt, 6, wish), may_send_again=may_send_again)
    assert (decision.status, decision.unconfirmed_provider) == (status, "p")
    assert decision.error_code == ("UNCONFIRMED" if status is Status.DEAD_LETTERED else "read_timeout")


def test_after_verdict__the_final_check_is_no_proof_either__is_dead_lettered() -> None:
    standing = Standing(7, 6, unconfirmed_provider="p", final_check=True, suspect=True)
    decision = _decide(Outcome.UNCONFIRMED, standing, may_send_again=True)
    assert (decision.status, decision.error_code) == (Status.DEAD_LETTERED, "UNCONFIRMED")


def _lose(
    standing: Standing, *, begun: bool = True, may_send_again: bool = False, ask_wait_seconds: float | None = None
) -> Decision:
    return outcome.after_loss(
        standing, provider="p", begun=begun, may_send_again=may_send_again, ask_wait_seconds=ask_wait_seconds
    )


def test_after_loss__in_company__gives_the_attempt_back_and_is_alone_from_here_on() -> None:
    decision = _lose(Standing(6, 6), may_send_again=True)
    assert (decision.status, decision.refund, decision.suspect) == (Status.PENDING, 1, True)
    assert (decision.unconfirmed_provider, decision.final_check, decision.wait_seconds) == ("p", False, None)


def test_after_loss__alone__counts() -> None:
    decision = _lose(Standing(2, 6, suspect=True), may_send_again=True)
    assert (decision.status, decision.refund, decision.suspect) == (Status.PENDING, 0, True)


def test_after_loss__alone_with_none_left_at_a_provider_that_drops_repeats__is_checked_once_more() -> None:
    decision = _lose(Standing(6, 6, suspect=True), may_send_again=True)
    assert (decision.status, decision.final_check, decision.refund) == (Status.PENDING, True, 0)
    checked = _lose(Standing(7, 6, unconfirmed_provider="p", suspect=True, final_check=True), may_send_again=True)
    assert (checked.status, checked.error_code) == (Status.DEAD_LETTERED, "UNCONFIRMED")


def test_after_loss__alone_with_none_left_elsewhere__is_dead_lettered() -> None:
    assert _lose(Standing(6, 6, suspect=True)).error_code == "UNCONFIRMED"
    unbegun = _lose(Standing(6, 6, suspect=True), begun=False)
    assert (unbegun.status, unbegun.error_code, unbegun.unconfirmed_provider) == (Status.DEAD_LETTERED, "lost", "")


def test_after_loss__begun_where_a_repeat_is_a_second_copy_and_that_is_not_wanted__is_held_at_once() -> None:
    decision = _lose(Standing(1, 6, HOLD))
    assert (decision.status, decision.error_code) == (Status.DEAD_LETTERED, "UNCONFIRMED")
    assert _lose(Standing(1, 6, HOLD), begun=False).status == Status.PENDING
    assert _lose(Standing(1, 6, HOLD), may_send_again=True).status == Status.PENDING


def test_given_back__keeps_what_is_known_of_it_and_counts_nothing() -> None:
    standing = Standing(3, 6, unconfirmed_provider="q", suspect=True)
    assert outcome.given_back(standing) == Decision(
        Status.PENDING, refund=1, unconfirmed_provider="q", suspect=True, not_sent=True
    )
    final = outcome.given_back(Standing(7, 6, unconfirmed_provider="q", suspect=True, final_check=True))
    assert (final.refund, final.final_check) == (0, True)


def test_out_of_time__expires_unless_it_may_have_been_sent() -> None:
    assert outcome.out_of_time(Standing(1, 6)).status == Status.EXPIRED
    unsure = outcome.out_of_time(Standing(2, 6, unconfirmed_provider="q"))
    assert (unsure.status, unsure.error_code, unsure.refund) == (Status.DEAD_LETTERED, "UNCONFIRMED", 1)


def test_held__is_a_dead_letter_that_used_no_attempt() -> None:
    decision = outcome.held(Standing(2, 6, HOLD, unconfirmed_provider="q"))
    assert (decision.status, decision.error_code, decision.refund) == (Status.DEAD_LETTERED, "UNCONFIRMED", 1)


def test_after_bug__names_the_error_and_none_of_its_words() -> None:
    decision = outcome.after_bug(Standing(1, 6), ValueError("ada@example.org"), provider="p")
    assert (decision.status, decision.error_code, decision.unconfirmed_provider) == (Status.DEAD_LETTERED, "bug", "p")
    assert decision.error_message == "ValueError in the adapter"
    assert outcome.after_bug(Standing(2, 6, unconfirmed_provider="q"), ValueError()).unconfirmed_provider == "q"


def _standings() -> list[Standing]:
    kinds = product((1, 5, 6), (RETRY, HOLD), ("", "p"), (False, True))
    plain = [Standing(n, 6, wish, unconfirmed_provider=open_at, suspect=s) for n, wish, open_at, s in kinds]
    return plain + [Standing(7, 6, w, unconfirmed_provider="p", suspect=True, final_check=True) for w in (RETRY, HOLD)]


def _decisions(standing: Standing) -> list[tuple[str, Decision]]:
    asked = (None, 5.0)
    verdicts = [
        _decide(v, standing, may_send_again=safe, ask_wait_seconds=a)
        for v, safe, a in product(VERDICTS, (False, True), asked)
    ]
    losses = [
        _lose(standing, begun=b, may_send_again=s, ask_wait_seconds=a)
        for b, s, a in product((False, True), (False, True), asked)
    ]
    settled = [*verdicts, outcome.out_of_time(standing), outcome.held(standing), outcome.after_bug(standing, OSError())]
    if standing.unconfirmed_provider:
        settled.append(outcome.to_be_asked(standing, 1.0))
    return [
        *(("settle", d) for d in settled),
        *(("rescue", d) for d in losses),
        ("release", outcome.given_back(standing)),
    ]


@pytest.mark.parametrize("standing", _standings(), ids=str)
def test_decisions__of_every_kind__keep_to_the_table_and_to_the_checks_of_the_database(standing: Standing) -> None:
    for by, decision in _decisions(standing):
        assert allowed(Status.PROCESSING, decision.status, by=by), (by, decision)
        # attempt_count while held: the final check is not counted.
        count = standing.attempt_number - (1 if standing.final_check else 0) - decision.refund
        assert 0 <= count <= standing.max_attempts
        if decision.status is Status.PENDING:
            assert count < standing.max_attempts or decision.final_check, (by, decision)
        else:
            assert decision.waiting_reason is None
        if decision.status is Status.RECONCILING:
            assert decision.unconfirmed_provider, (by, decision)
            assert decision.wait_seconds is not None
        if decision.status in (Status.EXPIRED, Status.PENDING) and standing.unconfirmed_provider:
            assert decision.unconfirmed_provider, (by, decision)
