"""Cancel and claim: either it is cancelled and never sent, or it is sent and the caller is told that it is too late."""

from __future__ import annotations

import threading
from uuid import UUID

import pytest
from django.db import transaction
from django.db.models.functions import Now

from notifications import queue
from notifications.models import Notification
from notifications.status import Status
from tests.support.rivals import PATIENT_SECONDS, Rival, run_together
from tests.support.rows import add, claim, database_now

pytestmark = pytest.mark.django_db(transaction=True)

RACES = 500


def _claim() -> list[UUID]:
    return [row.id for row in claim(worker_id="worker", limit=1, lease_seconds=60)]


def test_cancel_and_claim__in_500_races__exactly_one_of_them_wins() -> None:
    later = database_now().replace(year=2090)
    ids = add(RACES, due_at=later)
    turn = threading.Barrier(2)

    def cancel_all() -> list[bool]:
        results = []
        for wanted in ids:
            Notification.objects.filter(pk=wanted).update(due_at=Now())
            turn.wait(PATIENT_SECONDS)
            results.append(queue.cancel(wanted))
            turn.wait(PATIENT_SECONDS)
        return results

    def claim_all() -> list[list[UUID]]:
        results = []
        for _ in ids:
            turn.wait(PATIENT_SECONDS)
            results.append(_claim())
            turn.wait(PATIENT_SECONDS)
        return results

    cancelled, claimed = run_together([cancel_all, claim_all])
    for wanted, was_cancelled, got in zip(ids, cancelled, claimed, strict=True):
        assert got == ([] if was_cancelled else [wanted])
    ended = dict(Notification.objects.values_list("pk", "status"))
    for wanted, was_cancelled in zip(ids, cancelled, strict=True):
        assert ended[wanted] == (Status.CANCELLED if was_cancelled else Status.PROCESSING)


def test_cancel__while_a_claim_is_about_to_commit__waits_and_is_told_no() -> None:
    [wanted] = add()
    with transaction.atomic():
        assert _claim() == [wanted]
        cancel = Rival(lambda: queue.cancel(wanted)).start().wait_until_blocked_by_me()
    assert cancel.result() is False
    assert Notification.objects.get().status == Status.PROCESSING


def test_claim__while_a_cancel_is_about_to_commit__passes_it_over() -> None:
    [wanted] = add()
    with transaction.atomic():
        assert queue.cancel(wanted) is True
        assert Rival(_claim).start().result() == []
    assert _claim() == []
    assert Notification.objects.get().status == Status.CANCELLED
