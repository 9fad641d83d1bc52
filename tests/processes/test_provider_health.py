"""Providers that fail under real workers: nothing fails with them, few calls reach them, and they come back."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

import pytest
from django.db import transaction
from django.db.models import F, QuerySet

from notifications import services
from notifications.models import Attempt, Notification, ProviderHealth
from notifications.status import Status, WaitingReason
from notifications.verdict import Outcome
from tests.support.fault_server import FaultServer, Peer, closed_port
from tests.support.rows import add, all_are
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

PROCESSES, SEATS, FAILURES = 2, 4, 3
START = ("--processes", str(PROCESSES), "--concurrency", str(SEATS))
A_FAILS = {
    "NOTIFYQ_EMAIL_PROVIDERS": "sandbox:a,sandbox:b",
    "NOTIFYQ_SANDBOX_A_DEDUPE": "false",
    "NOTIFYQ_SANDBOX_A_LOOKUP": "false",
    "NOTIFYQ_SEND_TIMEOUT_SECONDS": "0.5",
    "NOTIFYQ_BREAKER_FAILURES": str(FAILURES),
    "NOTIFYQ_BREAKER_COOLDOWN_SECONDS": "600",
}
ACCEPTED = b'HTTP/1.1 202 Accepted\r\nContent-Length: 19\r\nConnection: close\r\n\r\n{"messageId":"m-1"}'
BROKEN = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Weather:
    """What the failing provider does now."""

    def __init__(self, bad: Callable[[Peer], None]) -> None:
        self._bad = bad
        self.is_fine = threading.Event()

    def __call__(self, peer: Peer) -> None:
        peer.read_request()
        if self.is_fine.is_set():
            peer.send(ACCEPTED)
        else:
            self._bad(peer)


def answers_503(peer: Peer) -> None:
    peer.send(BROKEN)


def says_nothing(peer: Peer) -> None:
    peer.wait_until_gone()


def calls_of(provider: str) -> Counter[str]:
    return Counter(Attempt.objects.filter(provider=provider).values_list("outcome", flat=True))


def test_outage__connections_refused__sends_through_the_next_and_comes_back_when_it_is_over(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    port = closed_port()
    urls = {"NOTIFYQ_SANDBOX_A_URL": f"http://127.0.0.1:{port}", "NOTIFYQ_SANDBOX_B_URL": sandbox.url}
    fleet.start(*START, **A_FAILS | urls)
    add(100)
    wait_until(lambda: all_are(Status.SENT, 100), 30, "all are SENT")

    refused = calls_of("sandbox:a")
    assert 0 < refused[Outcome.TEMPORARY] == refused.total() <= PROCESSES * (FAILURES + SEATS)
    assert set(Notification.objects.values_list("attempt_count", "provider")) == {(1, "sandbox:b")}
    assert sandbox.stats()[1:] == (100, 0)

    weather = Weather(says_nothing)
    weather.is_fine.set()
    with FaultServer(weather, port=port) as a:
        ProviderHealth.objects.update(probe_due_at=F("opened_at"))  # the cooldown is over
        wait_until(lambda: add() and calls_of("sandbox:a")[Outcome.ACCEPTED] > 1, 30, "it is used again")
        assert a.requests
        assert ProviderHealth.objects.get().state == "CLOSED"


@pytest.mark.parametrize("fault", [answers_503, says_nothing])
def test_outage__nobody_knows_what_was_sent__keeps_those_and_sends_the_others_through_the_next(
    fault: Callable[[Peer], None], fleet: Fleet, sandbox: Sandbox
) -> None:
    weather = Weather(fault)
    with FaultServer(weather) as a:
        urls = {"NOTIFYQ_SANDBOX_A_URL": a.url, "NOTIFYQ_SANDBOX_B_URL": sandbox.url}
        fleet.start(*START, **A_FAILS | urls)
        add(100)
        wait_until(lambda: not _waiting_for("").exists(), 30, "each is SENT, or waits for the failing one")

        unsure = calls_of("sandbox:a")
        assert 0 < unsure[Outcome.UNCONFIRMED] == unsure.total() == len(a.requests) <= PROCESSES * (FAILURES + SEATS)
        bound = _waiting_for("sandbox:a")
        assert sandbox.stats()[1:] == (100 - bound.count(), 0)
        wait_until(lambda: not bound.exclude(waiting_reason="PROVIDER_UNAVAILABLE").exists(), 30, "all are put off")
        assert set(bound.values_list("attempt_count", flat=True)) <= {1, 2}

        weather.is_fine.set()
        services.reset_breaker("EMAIL", "sandbox:a", by="a test")

        def all_sent() -> bool:
            _end_the_waiting()
            return all_are(Status.SENT, 100)

        wait_until(all_sent, 30, "the others are sent where they may have been sent before")
        assert sandbox.stats()[2] == 0


def _end_the_waiting() -> None:
    """As if its time were over. What a worker is writing is left to the next call: two that wait for rows of each other
    in their own orders would be a deadlock."""
    waiting = Notification.objects.filter(waiting_reason=WaitingReason.PROVIDER_UNAVAILABLE)
    with transaction.atomic():
        free = list(waiting.select_for_update(skip_locked=True).values_list("pk", flat=True))
        Notification.objects.filter(pk__in=free).update(due_at=F("created_at"))


def _waiting_for(provider: str) -> QuerySet[Notification]:
    return Notification.objects.filter(unconfirmed_provider=provider).exclude(status=Status.SENT)


def test_outage__of_the_only_provider__puts_off_few_uncounted_and_sends_all_when_it_is_over(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    port = closed_port()
    usual = {"NOTIFYQ_BREAKER_FAILURES": "2", "NOTIFYQ_BREAKER_COOLDOWN_SECONDS": "0.4"}
    rate = {"NOTIFYQ_SANDBOX_RATE_PER_SECOND": "1000"}  # the probe of a provider with a rate needs a leased call
    fleet.start(*START, **usual, **rate, NOTIFYQ_SANDBOX_URL=f"http://127.0.0.1:{port}")
    add(200)
    unavailable = Notification.objects.filter(waiting_reason=WaitingReason.PROVIDER_UNAVAILABLE)
    wait_until(unavailable.exists, 30, "the breaker is open")
    wait_until(ProviderHealth.objects.filter(trips__gte=3).exists, 30, "it was probed some times")

    touched = Notification.objects.filter(updated_at__gt=F("created_at"))
    assert touched.count() < 100, "what cannot be sent is left where it is"
    assert Attempt.objects.count() <= PROCESSES * (2 + SEATS) + ProviderHealth.objects.get().trips + 1
    assert not unavailable.filter(attempt_count__gt=2).exists()

    weather = Weather(says_nothing)
    weather.is_fine.set()
    with FaultServer(weather, port=port):
        wait_until(lambda: all_are(Status.SENT, 200), 30, "all are SENT")


def test_outage__while_a_worker_drains__leaves_what_nobody_can_send(fleet: Fleet) -> None:
    add(20)
    dead = {"NOTIFYQ_SANDBOX_URL": f"http://127.0.0.1:{closed_port()}", "NOTIFYQ_BREAKER_FAILURES": "1"}

    assert fleet.start("--drain", ready=0, **dead).wait() == 0

    assert all_are(Status.PENDING, 20)
    assert ProviderHealth.objects.get().state == "OPEN"


def test_rate__of_a_provider__is_not_passed_by_two_processes(fleet: Fleet, sandbox: Sandbox) -> None:
    workers = fleet.start("--processes", "2", NOTIFYQ_SANDBOX_RATE_PER_SECOND="20")
    add(40)
    wait_until(lambda: all_are(Status.SENT, 40), 30, "all are SENT")

    times = sorted(datetime.fromisoformat(m["acceptedAt"]).timestamp() for m in sandbox.messages())
    burst = 5 + 20 * 0.5  # what is saved up, and what is leased and kept for a moment
    for first, at in enumerate(times):
        within = sum(t < at + 1.0 for t in times[first:])
        assert within <= 20 + burst
    assert times[-1] - times[0] >= (40 - burst) / 20
    assert set(Notification.objects.values_list("attempt_count", flat=True)) == {1}
    assert not workers.events("attempt_not_accepted")
    assert all(a <= b for a, b in pairwise(times))
