"""A notification that kills its worker takes nothing with it, and one whose adapter has a bug not even the worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from notifications.models import Notification
from notifications.status import FINAL, Status
from tests.support.adapters import DeadlyProvider, lines_of
from tests.support.rows import a_client, add, attempts_of
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

DEADLY = {"NOTIFYQ_EMAIL_PROVIDERS": "deadly", "NOTIFYQ_LEASE_SECONDS": "600"}


def _wait_until_final(count: int, seconds: float) -> None:
    final = Notification.objects.filter(status__in=list(FINAL))
    wait_until(lambda: final.count() == count, seconds, "all final")


def test_run_workers__one_notification_kills_its_process__its_hundred_neighbours_lose_nothing(
    file_fleet: Fleet, tmp_path: Path
) -> None:
    client = a_client()
    innocents = add(50, client=client)
    [poison] = add(client=client, recipient="exit@example.org")
    innocents += add(50, client=client)
    workers = file_fleet.start(ready=1, **DEADLY)
    _wait_until_final(101, 60)
    rows = Notification.objects.filter(id__any=innocents)
    assert set(rows.values_list("status", "attempt_count", "suspect")) == {(Status.SENT, 1, False)}
    assert {str(i) for i in innocents} <= set(lines_of(tmp_path / "sent"))
    killer = Notification.objects.get(pk=poison)
    assert (killer.status, killer.attempt_count) == (Status.DEAD_LETTERED, killer.max_attempts)
    assert {outcome for _, outcome, _ in attempts_of(poison)} == {"LOST"}
    # Once in company, six times alone, and once more under the same key to be sure: never more.
    assert len(workers.events("worker_died")) == len(attempts_of(poison)) == 8
    assert workers.stop() == 0


def test_run_workers__an_adapter_raises_what_no_adapter_should__a_dead_letter_and_the_worker_lives_on(
    file_fleet: Fleet,
) -> None:
    client = a_client()
    bugs = [add(client=client, recipient=f"{word}@example.org")[0] for word in DeadlyProvider.RAISES]
    workers = file_fleet.start(ready=2, **DEADLY)
    pids = workers.child_pids()
    _wait_until_final(len(bugs), 20)
    rows = Notification.objects.filter(id__any=bugs)
    assert set(rows.values_list("status", "attempt_count", "last_error_code")) == {(Status.DEAD_LETTERED, 1, "bug")}
    add(20, client=client)
    _wait_until_final(len(bugs) + 20, 20)
    assert workers.child_pids() == pids
    assert workers.stop() == 0
