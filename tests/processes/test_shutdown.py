"""SIGTERM: claim no more, give back, finish, settle, exit 0. A second one: leave at once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from notifications.models import Attempt, Notification, Worker
from notifications.status import Status
from tests.support.adapters import lines_of
from tests.support.rows import add, all_are, statuses
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet, is_running

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def _sent_count() -> int:
    return Notification.objects.filter(status=Status.SENT).count()


def test_sigterm__ten_times_in_mid_work__exits_0_and_leaves_nothing_half_done(fleet: Fleet, sandbox: Sandbox) -> None:
    sandbox.set_weather(latencyMs=50)
    add(500)
    for _ in range(10):
        before = _sent_count()
        workers = fleet.start("--concurrency", "4", ready=0)
        wait_until(lambda: _sent_count() > before + 4, 30, "some work is done")  # noqa: B023 (called at once)
        assert workers.stop(15) == 0
        sent = Notification.objects.filter(status=Status.SENT)
        assert statuses() == {Status.SENT: sent.count(), Status.PENDING: 500 - sent.count()}
        waiting = Notification.objects.filter(status=Status.PENDING)
        assert set(waiting.values_list("attempt_count", "suspect", "waiting_reason")) == {(0, False, "")}
        assert set(sent.values_list("attempt_count", flat=True)) == {1}
        assert Attempt.objects.count() == sent.count() == sandbox.stats()[0]
        assert not Worker.objects.exists()


def test_sigterm__twice__leaves_at_once_and_what_it_held_is_taken_back(fleet: Fleet, sandbox: Sandbox) -> None:
    sandbox.set_weather(latencyMs=20_000)
    workers = fleet.start(NOTIFYQ_SEND_TIMEOUT_SECONDS="25", NOTIFYQ_LEASE_SECONDS="60", NOTIFYQ_GRACE_SECONDS="30")
    add()
    wait_until(lambda: sandbox.stats()[0] == 1, 20, "the send has begun")
    workers.signal(signal.SIGTERM)
    workers.wait_for("worker_stopped")  # the quarantine process holds nothing and is gone at once
    assert statuses() == {Status.PROCESSING: 1}
    workers.signal(signal.SIGTERM)
    assert workers.wait(8) == 1
    assert not workers.pids()
    assert list(Notification.objects.values_list("status", "suspect")) == [(Status.PENDING, True)]


def test_sigterm__while_the_children_are_still_being_built__reaches_them_too(file_fleet: Fleet, tmp_path: Path) -> None:
    workers = file_fleet.start(
        ready=0, NOTIFYQ_EMAIL_PROVIDERS="tardy", NOTIFYQ_TARDY_SECONDS="1.5", NOTIFYQ_GRACE_SECONDS="3"
    )
    building = tmp_path / "sent.building"
    wait_until(lambda: len(set(lines_of(building))) == 3, 30, "supervisor and both children build their providers")
    assert workers.stop(20) == 0
    assert len(workers.events("worker_stopped")) == 2


def test_sigterm__to_one_child_alone__another_takes_its_place(fleet: Fleet) -> None:
    workers = fleet.start()
    wait_until(lambda: Worker.objects.count() == 2, 10, "both have beaten")
    child = workers.child_with_role("delivery")
    os.kill(child, signal.SIGTERM)
    wait_until(lambda: not is_running(child), 10, "the child has ended")
    workers.wait_for("worker_started", 3, seconds=10)
    add()
    wait_until(lambda: all_are(Status.SENT, 1), 20, "the next one works")
    assert workers.stop() == 0


def test_run_workers__the_supervisor_is_killed__its_children_end_in_good_order(fleet: Fleet, sandbox: Sandbox) -> None:
    sandbox.set_weather(latencyMs=30)
    add(200)
    workers = fleet.start("--concurrency", "4", ready=1)
    wait_until(lambda: _sent_count() > 10, 20, "in mid-work")
    workers.signal(signal.SIGKILL)
    workers.wait(10)
    wait_until(lambda: not workers.pids(), 20, "the orphans have ended")
    assert len(workers.events("worker_stopped")) == 2
    sent = _sent_count()
    assert statuses() == {Status.SENT: sent, Status.PENDING: 200 - sent}
    assert Attempt.objects.count() == sent == sandbox.stats()[0]


def test_run_workers__a_child_is_killed__its_rows_are_back_and_another_runs_long_before_the_lease_ends(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(latencyMs=1500)
    workers = fleet.start(NOTIFYQ_LEASE_SECONDS="600", NOTIFYQ_SEND_TIMEOUT_SECONDS="5")
    [wanted] = add()
    wait_until(lambda: sandbox.stats()[0] == 1, 20, "the send has begun")
    child = workers.child_with_role("delivery")
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: all_are(Status.SENT, 1), 15, "sent by the quarantine")
    assert sandbox.stats()[1] == 1
    row = Notification.objects.get(pk=wanted)
    assert (row.attempt_count, row.suspect) == (1, False)
    workers.wait_for("worker_started", 3, seconds=10)
    assert child not in workers.child_pids()
