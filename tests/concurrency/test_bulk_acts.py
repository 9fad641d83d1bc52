"""Bulk acts with several workers at once, against claims, and when a worker dies in the middle."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from notifications import queue
from notifications.models import BulkAction, BulkStatus, Notification, OperatorAction
from notifications.queue import Act, bulk, bulk_walk
from notifications.status import Status
from notifyq.runtime import wakeup
from tests.support.bulk import OPERATOR, begin, let_pass, work_to_the_end
from tests.support.factories import ClientFactory, NotificationFactory, ago
from tests.support.rivals import PATIENT_SECONDS, Rival, backend_pid, run_together
from tests.support.rows import add, claim, statuses

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    """Its thread would outlive the test with a connection of its own."""
    monkeypatch.setattr(wakeup._notifier, "ring", lambda: None)


def dead(count, **columns):
    rows = NotificationFactory.create_batch(
        count, client=ClientFactory(), status=Status.DEAD_LETTERED, finished_at=ago(60), **columns
    )
    return [row.pk for row in rows]


class Halted:
    """Replaces a function of the walk by itself, and keeps its first caller inside until it is let go."""

    def __init__(self, monkeypatch, name):
        self._real = getattr(bulk_walk, name)
        self.is_inside, self._go = threading.Event(), threading.Event()
        monkeypatch.setattr(bulk_walk, name, self._call)

    def _call(self, *arguments):
        result = self._real(*arguments)
        if not self.is_inside.is_set():
            self.pid = backend_pid()
            self.is_inside.set()
            assert self._go.wait(PATIENT_SECONDS)
        return result

    def let_go(self):
        self._go.set()


def test_work_off__several_workers_at_once__each_row_is_done_once(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_MOST", 20)
    ids = dead(100)
    act = begin()

    def work():
        done = 0
        for _ in range(10):
            let_pass(act, 1.0)
            done += queue.work_off(2.0)
        return done

    done = run_together([work] * 4)
    act.refresh_from_db()

    assert sum(done) == act.done_count == 100
    assert statuses(ids) == {Status.PENDING: 100}
    assert set(Notification.objects.values_list("operator_retry_count", flat=True)) == {1}
    assert OperatorAction.objects.count() == 100
    work_to_the_end(act)
    assert act.status == BulkStatus.DONE


def test_work_off__while_another_has_a_batch_under_way__passes_it_over(monkeypatch):
    dead(4)
    act = begin()
    halted = Halted(monkeypatch, "take_back")
    worker = Rival(lambda: queue.work_off(2.0)).start()
    assert halted.is_inside.wait(PATIENT_SECONDS)

    assert queue.work_off(2.0) == 0
    halted.let_go()

    assert worker.result() == 4
    act.refresh_from_db()
    assert (act.status, act.done_count) == (BulkStatus.DONE, 4)


def test_work_off__worker_dies_in_the_middle_of_a_batch__another_does_that_batch_once(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_MOST", 3)
    ids = dead(5)
    act = begin()
    assert queue.work_off(2.0) == 3
    halted = Halted(monkeypatch, "take_back")
    let_pass(act, 1.0)
    worker = Rival(lambda: queue.work_off(2.0)).start()
    assert halted.is_inside.wait(PATIENT_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [halted.pid])
    halted.let_go()
    with pytest.raises(DatabaseError):
        worker.result()

    act.refresh_from_db()
    assert (act.status, act.done_count, act.failure_count) == (BulkStatus.RUNNING, 3, 0)
    assert statuses(ids) == {Status.PENDING: 3, Status.DEAD_LETTERED: 2}
    work_to_the_end(act)

    assert act.done_count == 5
    assert set(Notification.objects.values_list("operator_retry_count", flat=True)) == {1}
    assert OperatorAction.objects.count() == 5


def test_stop__while_a_batch_is_under_way__takes_hold_behind_it(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_MOST", 2)
    dead(4)
    act = begin()
    with transaction.atomic():
        assert queue.work_off(2.0) == 2
        stop = Rival(lambda: queue.stop_bulk(act.pk, OPERATOR)).start().wait_until_blocked_by_me()

    assert stop.result() is True
    act.refresh_from_db()
    assert (act.status, act.done_count) == (BulkStatus.STOPPED, 2)
    let_pass(act, 1.0)
    assert queue.work_off(2.0) == 0


def test_retry__a_row_that_somebody_holds__is_taken_in_the_next_pass():
    [first, second] = dead(2)
    act = begin()
    with transaction.atomic():
        Notification.objects.select_for_update(no_key=True).get(pk=first)
        assert Rival(lambda: queue.work_off(2.0)).start().result() == 1
    act.refresh_from_db()
    assert (act.status, act.pass_number, statuses([second])) == (BulkStatus.RUNNING, 2, {Status.PENDING: 1})
    assert act.paced_at - act.worked_at == timedelta(seconds=1)  # the holder is given time

    work_to_the_end(act)

    assert (act.status, act.done_count, act.missed_count) == (BulkStatus.DONE, 2, 0)
    assert statuses() == {Status.PENDING: 2}


def test_resolve__a_row_that_somebody_is_retrying__is_left_to_them():
    held = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}
    [first, second] = dead(2, **held)
    act = begin(BulkAction.RESOLVE_SENT)
    with transaction.atomic():
        assert queue.retry(first, Act(OPERATOR, "sent to the wrong gateway"))
        assert Rival(lambda: queue.work_off(2.0)).start().result() == 1

    work_to_the_end(act)

    assert (act.status, act.done_count, act.missed_count) == (BulkStatus.DONE, 1, 0)
    assert (statuses([first]), statuses([second])) == ({Status.PENDING: 1}, {Status.SENT: 1})


def test_cancel__while_a_claim_is_about_to_commit__leaves_what_the_worker_has():
    add(3)
    act = begin(BulkAction.CANCEL)
    with transaction.atomic():
        [held] = claim(limit=1)
        assert Rival(lambda: queue.work_off(2.0)).start().result() == 2

    work_to_the_end(act)

    assert act.done_count == 2
    assert statuses() == {Status.CANCELLED: 2, Status.PROCESSING: 1}
    assert Notification.objects.get(pk=held.id).status == Status.PROCESSING


def test_begin__many_at_once_with_one_filter__is_one_act():
    acts = run_together([begin] * 6)

    assert len({act.pk for act in acts}) == 1
