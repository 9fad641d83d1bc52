"""The rate limit under real workers, judged by the sandbox's own record."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from datetime import datetime, timedelta

import pytest

from notifications.models import Notification
from notifications.status import Status
from ratelimits.models import Gate, Slot
from tests.support.rows import a_client, add, all_are
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

LIMIT, WINDOW_SECONDS = 5, 2
LIMITED = {
    "NOTIFYQ_RATE_LIMIT_COUNT": str(LIMIT),
    "NOTIFYQ_RATE_LIMIT_WINDOW_SECONDS": str(WINDOW_SECONDS),
    "NOTIFYQ_SEND_TIMEOUT_SECONDS": "1",
    "NOTIFYQ_LEASE_SECONDS": "4",
}


def most_in_a_window(sandbox: Sandbox, window_seconds: float) -> int:
    """The most that any recipient was sent in any window, as the provider saw it."""
    instants: defaultdict[str, list[datetime]] = defaultdict(list)
    for message in sandbox.messages():
        instants[message["recipient"]].append(datetime.fromisoformat(message["acceptedAt"]))
    window = timedelta(seconds=window_seconds)
    return max(
        sum(1 for later in times if first <= later < first + window) for times in instants.values() for first in times
    )


def _sent_count() -> int:
    return Notification.objects.filter(status=Status.SENT).count()


def test_run_workers__killed_and_failing_under_a_limit__no_window_holds_more_and_each_is_accepted_once(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(latencyMs=500, jitterMs=200, temporaryRate=0.1)
    client = a_client()
    running = [fleet.start("--processes", "2", "--concurrency", "6", ready=1, **LIMITED) for _ in range(2)]
    for number in range(4):
        add(15, client=client, recipient=f"person{number}@example.org", max_attempts=20)
    for reached in (10, 25, 40):
        wait_until(lambda: _sent_count() >= reached, 60, f"{reached} SENT")  # noqa: B023 (called at once)
        if children := running[0].child_pids():
            os.kill(children[0], signal.SIGKILL)
    running.pop(0).kill_whole()
    wait_until(lambda: all_are(Status.SENT, 60), 90, "all SENT")

    assert sandbox.stats()[1] == 60
    assert most_in_a_window(sandbox, WINDOW_SECONDS) <= LIMIT


def test_run_workers__one_recipient_has_2000_due__others_do_not_wait_behind_it(fleet: Fleet, sandbox: Sandbox) -> None:
    client = a_client()
    hot = [i for _ in range(4) for i in add(500, client=client, recipient="hot@example.org")]
    others = [add(client=client, recipient=f"person{n}@example.org")[0] for n in range(500)]
    fleet.start("--processes", "2", **(LIMITED | {"NOTIFYQ_RATE_LIMIT_WINDOW_SECONDS": "3600"}))

    rest = Notification.objects.filter(pk__in=others)
    wait_until(lambda: rest.filter(status=Status.SENT).count() == 500, 60, "the others are SENT")

    assert most_in_a_window(sandbox, 3600) == LIMIT
    waiting = Notification.objects.filter(pk__in=hot).exclude(status=Status.SENT)
    assert waiting.count() == 2000 - LIMIT
    assert set(waiting.values_list("attempt_count", "waiting_reason")) == {(0, "RATE_LIMITED")}
    assert Gate.objects.count() == 1
    assert Slot.objects.count() == 500 + LIMIT
