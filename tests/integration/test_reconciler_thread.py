"""The part of a worker that asks: it works by itself, keeps answers while the database is away, and ends in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError

from notifications import queue
from notifications.delivery.reconciler import Reconciler
from notifications.models import Notification
from notifications.status import Status
from notifications.verdict import Finding
from tests.support.askable import Askable, in_doubt, reconciler, said
from tests.support.rows import all_are
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ACCEPTED = Finding.accepted("m-1")


@pytest.fixture
def started(transactional_db: None) -> Iterator[list[Reconciler]]:
    """What a test starts is ended."""
    running: list[Reconciler] = []
    yield running
    for asker in running:
        asker.close(10)
        assert not asker.is_alive


def _start(started: list[Reconciler], vendor: Askable) -> Reconciler:
    asker = reconciler(vendor)
    started.append(asker)
    asker.start()
    return asker


def test_reconciler__in_a_worker__asks_about_what_is_due_and_then_idles(started: list[Reconciler]) -> None:
    in_doubt(40)
    vendor = Askable(ACCEPTED)
    asker = _start(started, vendor)
    wait_until(lambda: all_are(Status.SENT, 40), 20, "all SENT")
    wait_until(lambda: asker.is_idle, 20, "idle")
    assert set(vendor.asked.values()) == {1}
    in_doubt()
    wait_until(lambda: all_are(Status.SENT, 41), 20, "the next one too")


def test_reconciler__is_told_to_end_while_it_asks__lets_others_ask_at_once(started: list[Reconciler]) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def hangs(_: object) -> Finding:
        asked.set()
        assert go_on.wait(30)
        return ACCEPTED

    ids = in_doubt(10)
    asker = _start(started, Askable(hangs))
    assert asked.wait(20)
    wait_until(lambda: Notification.objects.filter(claim_token__isnull=False).count() == 10, 20, "all taken")
    asker.close(10)
    assert not asker.is_alive
    assert not asker.is_idle
    assert dict(reconciler(Askable(ACCEPTED), worker_id="another").run_pass().became) == {"SENT": len(ids)}
    go_on.set()


def test_reconciler__the_database_is_away_when_the_answer_comes__keeps_it_and_asks_no_second_time(
    started: list[Reconciler], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[int] = []
    settle = queue.settle_askings

    def away_twice(endings: Any) -> Any:
        if len(refused) < 2:
            refused.append(len(endings))
            raise OperationalError("the server closed the connection unexpectedly")
        return settle(endings)

    monkeypatch.setattr(queue, "settle_askings", away_twice)
    [wanted] = in_doubt()
    vendor = Askable(ACCEPTED)
    _start(started, vendor)
    wait_until(lambda: all_are(Status.SENT, 1), 20, "SENT")
    assert refused == [1, 1]
    assert vendor.asked == {wanted: 1}
    assert said(wanted) == [("ACCEPTED", "", 1)]
