"""One notification, many who want it."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from notifications.channel import Priority
from notifications.models import Notification
from notifications.queue import Claimed, due
from notifications.queue.due import Row
from notifications.status import Status
from notifyq.leasing import fixed
from tests.support.rivals import PATIENT_SECONDS, run_together
from tests.support.rows import a_client, add, claim, database_now

pytestmark = pytest.mark.django_db(transaction=True)

claim_module = importlib.import_module("notifications.queue.claim")
WORKERS = 10


def _claimer(number: int, limit: int = 1) -> Callable[[], list[Claimed]]:
    return lambda: claim(worker_id=f"worker-{number}", limit=limit, lease_seconds=60)


def test_claim__ten_workers_want_the_same_one__exactly_one_gets_it_every_time() -> None:
    client = a_client()
    for _ in range(25):
        [wanted] = add(client=client)
        answers = run_together([_claimer(n) for n in range(WORKERS)])
        won = [(number, rows) for number, rows in enumerate(answers) if rows]
        assert len(won) == 1
        row = Notification.objects.get(pk=wanted)
        assert (row.status, row.attempt_count) == (Status.PROCESSING, 1)
        assert (row.worker_id, row.claim_token) == (f"worker-{won[0][0]}", won[0][1][0].token)


def test_claim__without_the_row_lock__hands_one_notification_to_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows that the test above can fail, and what the lock is there for."""
    together = threading.Barrier(WORKERS)

    def look_together(*args: Any, **options: Any) -> list[Row]:
        found = due.lock_due(*args, **options)
        if found:
            together.wait(PATIENT_SECONDS)
        return found

    monkeypatch.setattr(fixed, "passing_over_held", lambda rows: rows)
    monkeypatch.setattr(due, "_first_due", due._first_due.__wrapped__)  # made anew, without the lock
    monkeypatch.setattr(claim_module, "lock_due", look_together)
    [wanted] = add(max_attempts=WORKERS)  # with fewer the table itself refuses to count that many attempts
    answers = run_together([_claimer(n) for n in range(WORKERS)])
    assert [row.id for rows in answers for row in rows] == [wanted] * WORKERS


def test_claim__ten_workers_share_a_backlog__nobody_gets_what_another_has_and_each_keeps_the_order() -> None:
    client, due_at = a_client(), database_now()
    for priority in (Priority.LOW, Priority.HIGH, Priority.NORMAL):
        add(100, client=client, priority=priority, due_at=due_at)
    answers = run_together([_claimer(n, limit=25) for n in range(WORKERS)])
    claimed = [row for rows in answers for row in rows]
    assert len(claimed) == len({row.id for row in claimed}) == 250
    assert len({row.token for row in claimed}) == WORKERS
    for rows in answers:
        order = [(row.rank, row.id) for row in rows]  # all are due together, so the older id goes first
        assert order == sorted(order)
    left = set(Notification.objects.filter(status=Status.PENDING).values_list("priority", flat=True))
    assert left == {Priority.LOW}
