"""The rules of the circuit breaker."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID, uuid4

import pytest

from notifications.breaker import (
    Breaker,
    BreakerRule,
    BreakerState,
    Calls,
    Sign,
    Tally,
    Window,
    after_calls,
    after_no_probe,
    after_probe,
    begin_probe,
    closed,
    is_probe_due,
    sign_of,
    tripped,
    wait_while_open,
)
from notifications.verdict import Verdict

CLOSED, OPEN, HALF_OPEN = BreakerState
RULE = BreakerRule(failures=3, cooldown_seconds=60.0)
NOW = datetime(2030, 1, 1, tzinfo=UTC)
ACCEPTED = Verdict.accepted("m-1")
REFUSED = Verdict.temporary("connect_failed", "nobody there")
TOKEN = UUID(int=1)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def opened() -> Breaker:
    return after_calls(Breaker(), Calls(0, failures=3), RULE, NOW)


def half_open() -> Breaker:
    breaker = begin_probe(opened(), TOKEN, 15.0, after(60))
    assert breaker is not None
    return breaker


EVERY = {
    "fresh": Breaker(),
    "failing": Breaker(failures=2),
    "open": opened(),
    "half open": half_open(),
    "tripped": tripped(Breaker(), NOW),
}


@pytest.mark.parametrize(
    ("verdict", "sign"),
    [
        (ACCEPTED, Sign.ALIVE),
        (Verdict.rejected("no_such_address"), Sign.ALIVE),
        (REFUSED, Sign.FAILURE),
        (Verdict.unconfirmed("read_timeout"), Sign.FAILURE),
        (Verdict.provider_fault("http_401"), Sign.FAULT),
        (Verdict.temporary("http_429", throttled=True), Sign.NONE),
    ],
)
def test_sign__of_each_verdict__tells_the_provider_from_the_message(verdict: Verdict, sign: Sign) -> None:
    assert sign_of(verdict) is sign


def test_breaker__failures_in_a_row__opens_at_the_threshold_and_not_before() -> None:
    two = after_calls(Breaker(), Calls(0, failures=2), RULE, NOW)
    assert (two.state, two.failures, two.generation) == (CLOSED, 2, 0)

    three = after_calls(two, Calls(0, failures=1), RULE, after(1))
    assert (three.state, three.failures, three.trips, three.generation) == (OPEN, 3, 1, 1)
    assert (three.opened_at, three.failing_since, three.probe_due_at) == (after(1), after(1), after(61))


def test_breaker__an_answer_between_failures__counts_from_there() -> None:
    assert after_calls(Breaker(failures=2), Calls(0, alive=True, failures=2), RULE, NOW).failures == 2
    assert after_calls(Breaker(failures=2), Calls(0, alive=True), RULE, NOW).failures == 0


def test_breaker__a_process_says_that_it_has_to_open__opens_whatever_the_count() -> None:
    assert after_calls(Breaker(), Calls(0, alive=True, failures=1, opens=True), RULE, NOW).state is OPEN


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("calls", [Calls(99, failures=9, opens=True), Calls(99, alive=True)])
def test_breaker__calls_of_another_generation__change_nothing(name: str, calls: Calls) -> None:
    assert after_calls(EVERY[name], calls, RULE, after(100)) is EVERY[name]


@pytest.mark.parametrize("name", ["open", "half open", "tripped"])
def test_breaker__late_calls_once_it_is_not_closed__change_nothing(name: str) -> None:
    breaker = EVERY[name]
    for alive, failures in product((True, False), (0, 9)):
        assert after_calls(breaker, Calls(breaker.generation, alive, failures, bool(failures)), RULE, NOW) is breaker


@pytest.mark.parametrize(
    ("name", "due_after"), [("fresh", None), ("failing", None), ("open", 60), ("half open", 75), ("tripped", None)]
)
def test_probe__of_each_state__is_due_after_the_cooldown_or_the_lease(name: str, due_after: float | None) -> None:
    breaker = EVERY[name]
    if due_after is None:
        assert not is_probe_due(breaker, after(1e6))
        assert begin_probe(breaker, uuid4(), 15.0, after(1e6)) is None
    else:
        assert not is_probe_due(breaker, after(due_after - 0.001))
        assert begin_probe(breaker, uuid4(), 15.0, after(due_after - 0.001)) is None
        assert is_probe_due(breaker, after(due_after))


def test_probe__begun__is_held_alone_until_its_lease_ends() -> None:
    first = half_open()
    assert (first.state, first.probe_token, first.probe_until) == (HALF_OPEN, TOKEN, after(75))
    assert begin_probe(first, uuid4(), 15.0, after(74)) is None

    second = begin_probe(first, UUID(int=2), 15.0, after(76))
    assert second is not None
    assert (second.probe_token, second.generation) == (UUID(int=2), first.generation + 1)
    assert after_probe(second, TOKEN, Sign.ALIVE, RULE, after(77)) is second  # the first comes back from the dead
    assert after_no_probe(second, TOKEN, after(77)) is second


def test_probe__answered__closes_and_forgets_the_outage() -> None:
    breaker = after_probe(half_open(), TOKEN, Sign.ALIVE, RULE, after(62))
    assert breaker == Breaker(trips=1, generation=half_open().generation + 1)


@pytest.mark.parametrize("sign", [Sign.FAILURE, Sign.FAULT])
def test_probe__failed__opens_again_for_another_cooldown(sign: Sign) -> None:
    breaker = after_probe(half_open(), TOKEN, sign, RULE, after(62))
    assert (breaker.state, breaker.trips, breaker.failing_since) == (OPEN, 2, NOW)
    assert (breaker.opened_at, breaker.probe_due_at, breaker.probe_token) == (after(62), after(122), None)


def test_probe__throttled__says_nothing_and_is_repeated_after_another_cooldown() -> None:
    breaker = after_probe(half_open(), TOKEN, Sign.NONE, RULE, after(62))
    assert (breaker.state, breaker.trips, breaker.probe_due_at) == (OPEN, 1, after(122))


def test_probe__not_made__is_still_due() -> None:
    breaker = after_no_probe(half_open(), TOKEN, after(62))
    assert (breaker.state, breaker.trips) == (OPEN, 1)
    assert is_probe_due(breaker, after(62))


@pytest.mark.parametrize("name", EVERY)
def test_trip__in_any_state__stays_open_without_a_probe_until_a_reset(name: str) -> None:
    breaker = tripped(EVERY[name], after(100))
    assert (breaker.state, breaker.tripped, breaker.probe_token, breaker.probe_due_at) == (OPEN, True, None, None)
    assert tripped(breaker, after(200)) is breaker
    assert after_probe(breaker, TOKEN, Sign.ALIVE, RULE, after(200)) is breaker


@pytest.mark.parametrize("name", EVERY)
def test_reset__in_any_state__is_closed_and_counts_anew(name: str) -> None:
    breaker = closed(EVERY[name])
    assert (breaker.state, breaker.failures, breaker.tripped) == (CLOSED, 0, False)
    assert breaker.trips == EVERY[name].trips
    assert closed(breaker) is breaker
    assert (breaker.generation > EVERY[name].generation) == (name != "fresh")


def test_wait__while_open__ends_about_when_the_probe_is_due_and_grows_with_the_outage() -> None:
    dice = random.Random(1)
    early = wait_while_open(until_probe_seconds=58.0, failing_seconds=2.0, cooldown_seconds=60.0)
    late = wait_while_open(until_probe_seconds=58.0, failing_seconds=9e9, cooldown_seconds=60.0)
    assert (early.at_least_seconds, early.spread_seconds) == (58.0, 1.0)
    assert (late.at_least_seconds, late.spread_seconds) == (58.0, 30.0)
    assert len({late.draw(dice) for _ in range(10)}) == 10
    assert all(64.0 <= late.draw(dice) <= 88.0 for _ in range(50))


def test_wait__while_the_probe_is_under_way__is_no_longer_than_a_cooldown_and_a_half() -> None:
    wait = wait_while_open(until_probe_seconds=15.0, failing_seconds=9e9, cooldown_seconds=2.0)
    assert (wait.at_least_seconds, wait.spread_seconds) == (2.0, 1.0)


def test_wait__tripped_by_an_operator__is_about_a_cooldown() -> None:
    wait = wait_while_open(until_probe_seconds=None, failing_seconds=1.0, cooldown_seconds=60.0)
    assert (wait.at_least_seconds, wait.spread_seconds) == (30.0, 30.0)


def test_tally__all_is_well__has_nothing_to_say() -> None:
    tally = Tally(RULE)
    assert not any(tally.add(Sign.ALIVE, ACCEPTED, n) for n in range(100))
    assert tally.is_idle
    assert tally.take(0, known_failures=0) is None


def test_tally__an_answer_while_others_know_of_failures__is_said_once() -> None:
    tally = Tally(RULE)
    tally.add(Sign.ALIVE, ACCEPTED, 0.0)
    assert tally.take(7, known_failures=2) == Calls(7, alive=True)
    assert tally.take(7, known_failures=2) is None


def test_tally__failures_over_several_takes__opens_at_the_threshold_of_one_process() -> None:
    tally = Tally(RULE)
    assert not tally.add(Sign.FAILURE, REFUSED, 0.0)
    assert tally.take(0, 0) == Calls(0, failures=1, error_code="connect_failed", error_message="nobody there")
    assert not tally.add(Sign.FAILURE, REFUSED, 1.0)
    assert tally.add(Sign.FAILURE, REFUSED, 2.0)
    calls = tally.take(0, 1)
    assert calls is not None
    assert (calls.failures, calls.opens) == (2, True)


def test_tally__throttled__is_neither_failure_nor_answer() -> None:
    tally = Tally(RULE)
    tally.add(Sign.FAILURE, REFUSED, 0.0)
    tally.add(Sign.FAILURE, REFUSED, 0.0)
    tally.add(Sign.NONE, Verdict.temporary("http_429", throttled=True), 0.0)
    assert tally.add(Sign.FAILURE, REFUSED, 0.0)


def test_tally__a_fault__opens_at_once() -> None:
    assert Tally(RULE).add(Sign.FAULT, Verdict.provider_fault("http_401"), 0.0)


def test_tally__could_not_be_told__is_told_with_what_came_later() -> None:
    tally = Tally(RULE)
    tally.add(Sign.FAILURE, REFUSED, 0.0)
    calls = tally.take(0, 0)
    assert calls is not None
    tally.add(Sign.FAILURE, REFUSED, 0.0)
    tally.put_back(calls)
    again = tally.take(0, 0)
    assert again is not None
    assert again.failures == 2
    tally.add(Sign.ALIVE, ACCEPTED, 0.0)
    tally.put_back(again)
    last = tally.take(0, 2)
    assert last is not None
    assert (last.alive, last.failures) == (True, 0)


def test_tally__its_breaker_has_changed__counts_anew() -> None:
    tally = Tally(RULE)
    tally.add(Sign.FAILURE, REFUSED, 0.0)
    tally.add(Sign.FAILURE, REFUSED, 0.0)
    tally.forget()
    assert not tally.add(Sign.FAILURE, REFUSED, 0.0)


def test_tally__with_a_minimum_volume__opens_on_the_share_of_failures_and_not_on_few_calls() -> None:
    rule = replace(RULE, failures=1000, min_volume=10, failure_rate=0.5, window_seconds=10.0)
    tally = Tally(rule)
    signs = [Sign.FAILURE, Sign.ALIVE] * 4
    assert not any(tally.add(s, REFUSED if s is Sign.FAILURE else ACCEPTED, 1.0) for s in signs)
    assert not tally.add(Sign.ALIVE, ACCEPTED, 1.0)
    assert tally.add(Sign.FAILURE, REFUSED, 1.0)  # 5 of 10
    old = Tally(rule)
    assert not any(old.add(s, REFUSED, 1.0) for s in [Sign.FAILURE] * 9)
    assert not old.add(Sign.FAILURE, REFUSED, 12.0)  # the nine are out of the window


def test_window__slides__by_a_tenth_of_itself() -> None:
    window = Window(10.0)
    assert window.add(True, 0.5) == (1, 1)
    assert window.add(False, 9.9) == (2, 1)
    assert window.add(False, 10.1) == (2, 0)


def test_breaker__any_walk_through_all_acts__keeps_its_promises() -> None:
    """HALF_OPEN always has one holder, an open one is due some day or kept by a person, generations grow."""
    dice, breaker, now = random.Random(7), Breaker(), NOW
    tokens = [uuid4() for _ in range(3)]
    for _ in range(3000):
        now += timedelta(seconds=dice.choice([0, 1, 20, 61]))
        token = dice.choice(tokens)
        before = breaker
        breaker = dice.choice(
            [
                after_calls(before, Calls(before.generation, failures=dice.randint(0, 2)), RULE, now),
                after_calls(before, Calls(before.generation - 1, failures=9, opens=True), RULE, now),
                begin_probe(before, token, 15.0, now) or before,
                after_probe(before, token, dice.choice(list(Sign)), RULE, now),
                after_no_probe(before, token, now),
                tripped(before, now) if dice.random() < 0.1 else before,
                closed(before) if dice.random() < 0.1 else before,
            ]
        )
        assert breaker.generation in (before.generation, before.generation + 1)
        assert (breaker.state is before.state) or breaker.generation > before.generation
        assert (breaker.probe_token is not None) == (breaker.state is HALF_OPEN) == (breaker.probe_until is not None)
        assert (breaker.state is OPEN and not breaker.tripped) <= (breaker.probe_due_at is not None)
        assert not breaker.tripped or breaker.state is OPEN
        assert (breaker.failing_since is None) == (breaker.state is CLOSED)
        assert breaker.state is not CLOSED or breaker.failures < RULE.failures
