"""Lost answers, killed workers, a status API that is away: nothing is sent twice, nothing is stuck."""

from __future__ import annotations

import os
import signal

import pytest

from notifications import queue
from notifications.channel import OnUnconfirmed
from notifications.models import ActorKind, Attempt, Notification
from notifications.queue import Act, Actor
from notifications.status import FINAL, Status
from notifications.verdict import Outcome
from tests.support.askable import said
from tests.support.rows import add, all_are, attempts_of, statuses
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet, Workers

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

NO_KEYS = {
    "NOTIFYQ_SANDBOX_DEDUPE": "false",
    "NOTIFYQ_LEASE_SECONDS": "3",
    "NOTIFYQ_SEND_TIMEOUT_SECONDS": "1",
    "NOTIFYQ_LOOKUP_BACKOFF_BASE_SECONDS": "0.3",
    "NOTIFYQ_LOOKUP_BACKOFF_MAX_SECONDS": "0.6",
}
KINDS = {"ada": 190, "accept-then-500": 280, "accept-then-timeout": 30}
"""Recipients: an ordinary one, and two whose messages are taken without a word that says so."""


def _finished_count() -> int:
    return Notification.objects.filter(status__in=FINAL).count()


def _kill_a_child(workers: Workers) -> None:
    os.kill(wait_until(workers.child_pids, 30, "it has children")[0], signal.SIGKILL)


def test_run_workers__answers_lost_and_workers_killed__each_of_500_is_accepted_once_and_sent(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(latencyMs=20, jitterMs=20, idempotency=False)
    fast = ("--processes", "2", "--concurrency", "16", "--batch-size", "16")
    workers = fleet.start(*fast, ready=2, **NO_KEYS)
    ids = [i for who, count in KINDS.items() for i in add(count, recipient=f"{who}@example.org")]
    for number, reached in enumerate((40, 120, 200, 280)):
        wait_until(lambda: _finished_count() >= reached, 60, f"{reached} at their end")  # noqa: B023 (called at once)
        if number == 2:
            workers.kill_whole()
            workers = fleet.start(*fast, ready=0, **NO_KEYS)
        else:
            _kill_a_child(workers)
    wait_until(lambda: all_are(Status.SENT, 500), 60, "all SENT")
    assert sorted(m["key"] for m in sandbox.messages()) == sorted(map(str, ids))
    assert sandbox.stats()[1:] == (500, 0)
    assert Attempt.objects.filter(outcome=Outcome.LOST).exists()  # else nothing was killed in the act
    lost = Notification.objects.filter(recipient__startswith="accept-then")
    assert not lost.filter(provider_message_id="").exists()
    assert not lost.filter(reconciled_at=None).exists()


def test_run_workers__the_status_api_is_away__nothing_is_resent_and_all_is_sent_once_it_is_back(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(idempotency=False, lookup=False)
    fleet.start(**NO_KEYS)
    ids = add(20, recipient="accept-then-500@example.org")
    often_asked = Notification.objects.filter(status=Status.RECONCILING, look_up_count__gte=3)
    wait_until(lambda: often_asked.count() == 20, 30, "each asked about again and again")
    assert sandbox.stats() == (20, 20, 0)
    sandbox.set_weather(idempotency=False)
    wait_until(lambda: all_are(Status.SENT, 20), 20, "all SENT")
    assert sandbox.stats() == (20, 20, 0)
    assert attempts_of(ids[0]) == [(1, "UNCONFIRMED", "http_500")]
    (unknown, code, often), accepted = said(ids[0])
    assert (unknown, code, often >= 2) == ("UNKNOWN", "lookup_not_supported", True)
    assert accepted == ("ACCEPTED", "", 1)


def test_run_workers__neither_keys_nor_look_ups__sends_again_or_waits_for_a_person_as_the_client_wants(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(idempotency=False)
    fleet.start(NOTIFYQ_SANDBOX_LOOKUP="false", **NO_KEYS)
    common = {"recipient": "accept-then-500@example.org", "max_attempts": 2}
    [again] = add(on_unconfirmed=OnUnconfirmed.RETRY, **common)
    [held] = add(on_unconfirmed=OnUnconfirmed.HOLD, **common)
    wait_until(lambda: all_are(Status.DEAD_LETTERED, 2), 20, "both at their end")
    assert set(Notification.objects.values_list("last_error_code", flat=True)) == {"UNCONFIRMED"}
    assert attempts_of(again) == [(1, "UNCONFIRMED", "http_500"), (2, "UNCONFIRMED", "http_500")]
    assert attempts_of(held) == [(1, "UNCONFIRMED", "http_500")]
    assert sorted(m["key"] for m in sandbox.messages()) == sorted(map(str, (again, again, held)))
    assert queue.resolve(held, Status.SENT, Act(Actor(ActorKind.USER, "ada"), "she has it"))
    assert statuses() == {Status.DEAD_LETTERED: 1, Status.SENT: 1}
