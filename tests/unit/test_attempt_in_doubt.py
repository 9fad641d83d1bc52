"""An attempt whose answer is lost, or about an earlier one that was, where the provider can be asked."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.channel import Channel, OnUnconfirmed
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.delivery.held import Finished
from notifications.delivery.upkeep import askable_of, safety_of
from notifications.outcome import Standing
from notifications.providers.base import Message
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Finding, Verdict
from tests.support.askable import HORIZON_SECONDS, Askable, chains_of
from tests.support.held import held

LOST_ANSWER = Verdict.unconfirmed("read_timeout")
HOUR = 3600.0


class Sender(Askable):
    """Answers every send with the same verdict, and counts them."""

    def __init__(self, verdict: Verdict, name: str = "p", **able: Any) -> None:
        super().__init__(Finding.absent(), name, **able)
        self.verdict = verdict
        self.sent_count = 0

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        self.sent_count += 1
        return self.verdict


def _deliver(
    *chain: Sender,
    attempt: int = 1,
    open_at: str = "",
    age_seconds: float | None = None,
    ttl_seconds: float | None = None,
) -> Finished:
    deliverer = Deliverer(chains_of(*chain), Backoff(1, 60), 1.0, lambda *_: True, lambda _: {}, Controls())
    standing = Standing(attempt, 6, OnUnconfirmed.RETRY, unconfirmed_provider=open_at)
    return deliverer.deliver(held(standing=standing, unconfirmed_age_seconds=age_seconds, ttl_seconds=ttl_seconds))


@pytest.mark.parametrize(
    ("able", "attempt", "expected"),
    [
        ({"dedupe_window_seconds": HOUR}, 1, Status.PENDING),
        ({"dedupe_window_seconds": HOUR}, 6, Status.RECONCILING),
        ({}, 1, Status.RECONCILING),
        ({"can_be_asked": False}, 1, Status.PENDING),
        ({"can_be_asked": False}, 6, Status.DEAD_LETTERED),
    ],
)
def test_deliver__no_answer__asks_where_a_repeat_is_not_dropped(
    able: dict[str, Any], attempt: int, expected: Status
) -> None:
    first, second = Sender(LOST_ANSWER, **able), Sender(Verdict.accepted("m"), "another")
    finished = _deliver(first, second, attempt=attempt)
    assert (finished.decision.status, finished.decision.unconfirmed_provider) == (expected, "p")
    assert (first.sent_count, second.sent_count, len(finished.hops)) == (1, 0, 1)


def test_deliver__an_earlier_answer_was_lost_and_repeats_are_no_longer_dropped__asks_instead_of_sending() -> None:
    vendor = Sender(Verdict.accepted("m"), dedupe_window_seconds=60.0)
    finished = _deliver(vendor, attempt=2, open_at="p", age_seconds=61.0)
    assert (finished.decision.status, finished.decision.refund) == (Status.RECONCILING, 1)
    assert (vendor.sent_count, finished.hops, finished.give_back) == (0, (), False)


def test_deliver__an_earlier_answer_was_lost_beyond_the_horizon__sends_as_the_client_wants() -> None:
    vendor = Sender(Verdict.accepted("m"))
    finished = _deliver(vendor, attempt=2, open_at="p", age_seconds=HORIZON_SECONDS)
    assert (finished.decision.status, vendor.sent_count) == (Status.SENT, 1)


def test_deliver__an_earlier_answer_was_lost_by_one_that_has_left__does_not_ask_another_about_it() -> None:
    vendor = Sender(Verdict.temporary("busy"))
    finished = _deliver(vendor, attempt=6, open_at="gone", age_seconds=10.0)
    assert (finished.decision.status, finished.decision.error_code) == (Status.DEAD_LETTERED, "UNCONFIRMED")
    assert finished.decision.unconfirmed_provider == "gone"


@pytest.mark.parametrize(
    ("able", "expected"), [({}, Status.RECONCILING), ({"can_be_asked": False}, Status.DEAD_LETTERED)]
)
def test_deliver__its_time_is_over_and_an_earlier_answer_was_lost__asks_where_it_can(
    able: dict[str, Any], expected: Status
) -> None:
    vendor = Sender(Verdict.accepted("m"), dedupe_window_seconds=HOUR, **able)
    finished = _deliver(vendor, attempt=2, open_at="p", age_seconds=10.0, ttl_seconds=0.0)
    assert (finished.decision.status, finished.decision.refund, vendor.sent_count) == (expected, 1, 0)


def test_askable_of__names_those_that_can_be_asked_with_their_settling_time() -> None:
    chains = chains_of(Sender(LOST_ANSWER), Sender(LOST_ANSWER, "q", can_be_asked=False))
    assert askable_of(chains) == {(channel, "p"): 2.0 for channel in Channel}


def test_safety_of__what_the_rescue_has_to_know__includes_how_to_ask() -> None:
    able, unable = Sender(LOST_ANSWER), Sender(LOST_ANSWER, "q", can_be_asked=False)
    safety = safety_of(chains_of(able, unable))
    waits = [safety(Channel.SMS, "+1", name).ask_wait_seconds(10.0) for name in ("p", "q", "gone")]
    assert waits == [2.0, None, None]
    assert safety(Channel.SMS, "+1", "p").ask_wait_seconds(HORIZON_SECONDS) is None
