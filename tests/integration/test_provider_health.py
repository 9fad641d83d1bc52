"""The health of the providers between the database and one worker: who may be called, and what happens to the rest."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from notifications import queue, services
from notifications.breaker import BreakerRule, BreakerState, Calls, Sign
from notifications.channel import Channel
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.delivery.health import Health
from notifications.delivery.held import Finished, Held
from notifications.delivery.pace import Pace
from notifications.delivery.terms import terms_of
from notifications.models import Notification, ProviderHealth, ProviderPace
from notifications.providers.base import Capabilities, Message, Provider, ProviderSettings
from notifications.providers.chains import Chain, Chains
from notifications.queue import Claimer, Limits
from notifications.retry import Backoff
from notifications.status import Status, WaitingReason
from notifications.verdict import Verdict
from notifyq.runtime.clock import elapsed
from tests.support.factories import ago
from tests.support.rows import add

pytestmark = pytest.mark.django_db

EMAIL = Channel.EMAIL
RULE = BreakerRule(failures=2, cooldown_seconds=60.0)
ACCEPTED = Verdict.accepted("m-1")
REFUSED = Verdict.temporary("connect_failed")
UNSURE = Verdict.unconfirmed("read_timeout")


class Vendor(Provider):
    """Answers as told, the last answer for ever."""

    kind = "vendor"
    channels = frozenset(Channel)

    def __init__(self, name: str, *answers: Verdict) -> None:
        super().__init__(name, Capabilities())
        self.answers = list(answers)
        self.timeouts: list[float] = []

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Vendor:
        raise NotImplementedError

    def is_senders_own(self, sender: Mapping[str, str]) -> bool:
        return "smtp_url" in sender

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        self.timeouts.append(timeout_seconds)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Desk:
    """One worker without threads: claims, delivers and settles when it is told."""

    def __init__(self, *vendors: Vendor, rates: dict[str, float] | None = None) -> None:
        self.chains: Chains = {EMAIL: Chain(vendors)}
        self.health = Health({v.name: RULE for v in vendors}, Pace(rates), send_timeout_seconds=30.0)
        controls = Controls()
        self.deliverer = Deliverer(
            self.chains, Backoff(1, 60), 30.0, lambda *_: True, lambda _: {}, controls, self.health
        )

    def terms(self) -> queue.Terms:
        return terms_of(self.chains, self.health, lambda _: False, lambda _: 0)

    def claim(self, limit: int = 100) -> list[Held]:
        names = [p.name for p in self.chains[EMAIL].providers]
        claimer = Claimer("worker", 60, Limits(None, 60), serving=lambda channel, recipient: names)
        return [Held.since(row, elapsed(), 60) for row in queue.claim(claimer, limit, terms=self.terms()).rows]

    def deliver(self, held: Held) -> Finished:
        finished = self.deliverer.deliver(held)
        (queue.release if finished.give_back else queue.settle)(
            [queue.Ending(held.claimed.id, held.claimed.token, finished.decision)]
        )
        return finished

    def work(self, limit: int = 100) -> list[Finished]:
        finished = [self.deliver(held) for held in self.claim(limit)]
        self.refresh()
        return finished

    def refresh(self) -> None:
        self.health._read_at = float("-inf")
        self.health.refresh()


def providers_of(finished: Finished) -> list[str]:
    return [hop.provider for hop in finished.hops]


def test_breaker__opens_in_the_middle_of_a_batch__the_rest_goes_to_the_next_before_anything_is_written() -> None:
    desk = Desk(Vendor("a", REFUSED), Vendor("b", ACCEPTED))
    add(5)

    finished = [desk.deliver(held) for held in desk.claim()]

    assert [providers_of(f) for f in finished] == [["a", "b"], ["a", "b"], ["b"], ["b"], ["b"]]
    assert not ProviderHealth.objects.exists()
    desk.refresh()
    row = ProviderHealth.objects.get()
    assert (row.channel, row.provider, row.state, row.failures) == ("EMAIL", "a", BreakerState.OPEN, 2)
    assert row.last_error_code == "connect_failed"


def test_breaker__opened_by_one_worker__is_open_for_the_other_with_its_next_look() -> None:
    first, second = Desk(Vendor("a", REFUSED)), Desk(Vendor("a", ACCEPTED))
    add(2)
    first.work()
    assert not second.health.is_open(EMAIL, "a")

    second.refresh()

    assert second.health.is_open(EMAIL, "a")
    assert second.terms().closed == {EMAIL}


def test_breaker__failures_of_two_workers__add_up_and_an_answer_ends_the_row() -> None:
    first, second = Desk(Vendor("a", REFUSED)), Desk(Vendor("a", ACCEPTED, REFUSED))
    for desk, failures in ((first, 1), (second, 0), (second, 1)):
        add()
        desk.refresh()
        desk.work(1)
        assert ProviderHealth.objects.get().failures == failures
        Notification.objects.exclude(status=Status.SENT).delete()
    add()
    first.refresh()
    first.work(1)
    assert ProviderHealth.objects.get().state == BreakerState.OPEN


def test_health__while_all_is_well__writes_nothing_and_reads_twice_a_second() -> None:
    desk = Desk(Vendor("a", ACCEPTED), Vendor("b", ACCEPTED))
    add(20)
    desk.work()
    with CaptureQueriesContext(connection) as queries:
        for _ in range(10):
            desk.health.refresh()
        desk.refresh()
    assert len(queries) == 2
    assert not ProviderHealth.objects.exists()
    assert desk.terms() is queue.NO_TERMS


def test_outage__of_all_providers__puts_off_uncounted_what_is_held_and_leaves_the_rest_where_it_is() -> None:
    desk = Desk(Vendor("a", REFUSED))
    add(5)
    finished = desk.work(4)

    assert [len(f.hops) for f in finished] == [1, 1, 0, 0]
    put_off = Notification.objects.filter(waiting_reason=WaitingReason.PROVIDER_UNAVAILABLE)
    assert put_off.filter(attempt_count=0, due_at__gt=Now() + timedelta(seconds=50)).count() == 2
    assert put_off.filter(due_at__lt=Now() + timedelta(seconds=90)).count() == 2
    assert desk.claim() == []
    assert Notification.objects.filter(waiting_reason="", attempt_count=0).count() == 1


def test_probe__is_due__one_row_is_taken_and_its_answer_closes_the_breaker() -> None:
    vendor = Vendor("a", REFUSED, REFUSED, ACCEPTED)
    desk = Desk(vendor)
    add(2)
    desk.work()
    ProviderHealth.objects.update(probe_due_at=Now())
    desk.refresh()
    late = add(3)

    [held] = desk.claim()
    finished = with_claimer(desk, held)
    desk.refresh()

    assert finished.decision.status is Status.SENT
    assert vendor.timeouts == [30.0, 30.0, 10.0]
    assert ProviderHealth.objects.get().state == BreakerState.CLOSED
    assert {h.claimed.id for h in [held, *desk.claim()]} >= set(late)


def test_probe__fails__opens_again() -> None:
    desk = Desk(Vendor("a", REFUSED))
    add(3)
    desk.work(2)
    ProviderHealth.objects.update(probe_due_at=Now())
    desk.refresh()

    with_claimer(desk, *desk.claim())
    desk.refresh()

    row = ProviderHealth.objects.get()
    assert (row.state, row.trips) == (BreakerState.OPEN, 2)
    assert desk.claim() == []


def test_probe__fails_otherwise_than_what_opened_it__is_the_last_error_from_then_on() -> None:
    desk = Desk(Vendor("a", Verdict.provider_fault("20003", "authenticate"), Verdict.temporary("http_503")))
    add(2)
    desk.work(1)
    hour_ago = ago(3600)
    ProviderHealth.objects.update(probe_due_at=Now(), last_error_at=hour_ago)
    desk.refresh()

    with_claimer(desk, *desk.claim())
    desk.refresh()

    row = ProviderHealth.objects.get()
    assert (row.state, row.last_error_code, row.last_error_message) == (BreakerState.OPEN, "http_503", "")
    assert row.last_error_at > hour_ago


@pytest.mark.parametrize("sign", [Sign.ALIVE, Sign.NONE, None])
def test_probe__that_did_not_fail__leaves_the_last_error(sign: Sign | None) -> None:
    key = (EMAIL, "a")
    queue.record_calls(key, Calls(0, failures=2, opens=True, error_code="connect_failed"), RULE)
    ProviderHealth.objects.update(probe_due_at=Now())
    token = queue.begin_probe(key, 10.0)
    assert token is not None

    queue.end_probe(key, token, sign, RULE, Verdict.temporary("http_429", throttled=True))

    assert ProviderHealth.objects.get().last_error_code == "connect_failed"


def test_probe__lost_to_another__says_nothing_of_the_last_error_either() -> None:
    key = (EMAIL, "a")
    queue.record_calls(key, Calls(0, failures=2, opens=True, error_code="connect_failed"), RULE)

    queue.end_probe(key, uuid4(), Sign.FAILURE, RULE, Verdict.temporary("http_503"))

    assert ProviderHealth.objects.get().last_error_code == "connect_failed"


def test_probe__of_a_row_that_may_not_begin__is_still_due() -> None:
    desk = Desk(Vendor("a", REFUSED))
    add(3)
    desk.work(2)
    ProviderHealth.objects.update(probe_due_at=Now())
    desk.refresh()
    [held] = desk.claim()
    held.usable_until = elapsed()

    with_claimer(desk, held)
    desk.refresh()

    assert ProviderHealth.objects.get().state == BreakerState.OPEN
    assert desk.health.is_probe_due(EMAIL, "a")


def test_unconfirmed__at_a_provider_that_then_opens__waits_for_it_uncounted_and_unclaimed() -> None:
    desk = Desk(Vendor("a", UNSURE), Vendor("b", ACCEPTED))
    add(2)
    first = desk.work()
    assert [providers_of(f) for f in first] == [["a"], ["a"]]
    bound = Notification.objects.filter(unconfirmed_provider="a")
    bound.update(due_at=Now())
    add()

    finished = desk.work()

    assert [providers_of(f) for f in finished] == [["b"]]
    assert set(bound.values_list("status", "waiting_reason", "attempt_count")) == {
        ("PENDING", WaitingReason.PROVIDER_UNAVAILABLE, 1)
    }
    assert bound.filter(due_at__gt=Now() + timedelta(seconds=50)).count() == 2


def test_rejections_and_throttling__any_number__do_not_open_it() -> None:
    throttled = Verdict.temporary("http_429", throttled=True)
    desk = Desk(Vendor("a", *[Verdict.rejected("no_such_address"), throttled] * 4, REFUSED))
    add(8)
    desk.work()
    assert not desk.health.is_open(EMAIL, "a")
    assert not ProviderHealth.objects.exists()


def test_provider_fault__once__opens_it_and_goes_to_the_next() -> None:
    desk = Desk(Vendor("a", Verdict.provider_fault("http_401")), Vendor("b", ACCEPTED))
    add(2)
    finished = desk.work()
    assert [providers_of(f) for f in finished] == [["a", "b"], ["b"]]
    assert finished[0].decision.provider == "b"


def test_own_settings_of_a_client__are_wrong__stop_nobody_else() -> None:
    vendor = Vendor("a", Verdict.provider_fault("client_email_from_invalid"))
    desk = Desk(vendor)
    desk.deliverer = dataclasses.replace(desk.deliverer, senders=lambda _: {"email_from": "?"})
    add(6)
    desk.work(3)
    assert not desk.health.is_open(EMAIL, "a")

    desk.deliverer = dataclasses.replace(desk.deliverer, senders=lambda _: {"smtp_url": "smtp://gone"})
    throttled = Verdict.temporary("http_429", throttled=True, retry_after_seconds=30.0)
    vendor.answers = [REFUSED, REFUSED, throttled]
    assert [len(f.hops) for f in desk.work(3)] == [1, 1, 1]
    assert not desk.health.is_open(EMAIL, "a")
    assert not ProviderHealth.objects.exists()
    assert not ProviderPace.objects.exists()


def with_claimer(desk: Desk, held: Held) -> Finished:
    """Deliver in a thread, as a delivery thread would, while this one is the claimer. Settled here."""
    finished: list[Finished] = []
    thread = threading.Thread(target=lambda: finished.append(desk.deliverer.deliver(held)))
    thread.start()
    while thread.is_alive():
        desk.health.refresh()
        thread.join(0.005)
    [one] = finished
    (queue.release if one.give_back else queue.settle)(
        [queue.Ending(held.claimed.id, held.claimed.token, one.decision)]
    )
    return one


def test_operator__trips_and_resets__by_service_and_stays_open_in_between(chains: None) -> None:
    desk = Desk(Vendor("a", ACCEPTED), Vendor("b:x", ACCEPTED))
    services.trip_breaker("EMAIL", "a", reason="it is slow", by="ada")
    services.trip_breaker("EMAIL", "a", reason="again", by="bob")
    desk.refresh()
    add(2)
    assert [providers_of(f) for f in desk.work()] == [["b:x"], ["b:x"]]
    assert not desk.health.is_probe_due(EMAIL, "a")
    row = ProviderHealth.objects.get()
    assert (row.state, row.tripped, row.act, row.acted_by, row.act_reason) == (
        "OPEN",
        True,
        "TRIP",
        "ada",
        "it is slow",
    )

    services.reset_breaker("EMAIL", "a", by="bob")
    desk.refresh()
    add()
    assert [providers_of(f) for f in desk.work()] == [["a"]]
