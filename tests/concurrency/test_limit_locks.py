"""The locks of the rate limits: nothing that may happen at once to a few recipients ends in a deadlock, and a slot that
becomes free while the bucket is being found full is not overlooked."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction

from notifications import outcome, queue
from notifications.models import Notification
from notifications.queue import Claimed, Claimer, Ending, Limits
from notifications.status import Status
from ratelimits.models import Gate, Slot
from ratelimits.window import Limit
from tests.support.rivals import Rival, run_together
from tests.support.rows import a_client, add, database_now
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT = Limit(3, 0.3)
HAMMER_SECONDS = 3.0


def _claim(worker_id: str, limit: int, rule: Limit = LIMIT) -> list[Claimed]:
    return queue.claim(Claimer(worker_id, 60, Limits(rule, 0.0)), limit).rows


def _given_back(row: Claimed) -> Ending:
    return Ending(row.id, row.token, outcome.given_back(row.standing))


def test_hammer__claims_endings_gates_cancels_and_expiry_over_few_recipients__no_deadlock() -> None:
    client = a_client()
    recipients = [f"person{n}@example.org" for n in range(6)]
    ids = [i for recipient in recipients for i in add(40, client=client, recipient=recipient)]
    until = time.monotonic() + HAMMER_SECONDS

    def work(act: Callable[[random.Random], None]) -> Callable[[], int]:
        def run() -> int:
            dice, count = random.Random(), 0
            while time.monotonic() < until:
                act(dice)
                count += 1
            return count

        return run

    def claim_and_end(dice: random.Random) -> None:
        rows = _claim("worker", 20)
        dice.shuffle(rows)
        queue.release([_given_back(row) for row in rows])

    def gates(dice: random.Random) -> None:
        queue.release_parked(LIMIT)

    def cancel(dice: random.Random) -> None:
        queue.cancel(dice.choice(ids))
        add(1, client=client, recipient=dice.choice(recipients))

    def expire(dice: random.Random) -> None:
        soon = dice.sample(ids, 3)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE notifications_notification SET expires_at = now() WHERE id = ANY(%s) AND status = 'PENDING'",
                [soon],
            )
        queue.expire(10)

    counts = run_together([work(act) for act in (claim_and_end, claim_and_end, gates, gates, cancel, expire)])

    assert all(counts)


def _full_bucket() -> tuple[Claimed, UUID]:
    """One that uses up the only slot, and another that waits to be claimed."""
    hour = Limit(1, 3600)
    client = a_client()
    add(client=client)
    [held] = _claim("worker", 1, hour)
    [waiting] = add(client=client)
    return held, waiting


def test_claim_then_release__the_slot_is_freed_while_the_bucket_is_found_full__the_gate_opens() -> None:
    held, waiting = _full_bucket()
    with transaction.atomic():
        assert _claim("other", 1, Limit(1, 3600)) == []
        release = Rival(lambda: queue.release([_given_back(held)])).start().wait_until_blocked_by_me()
    assert release.result() == 1
    assert queue.release_parked(Limit(1, 3600)) == 1
    assert Notification.objects.get(pk=waiting).parked_by is None


def test_release_then_claim__the_claim_waits_and_finds_the_slot() -> None:
    held, waiting = _full_bucket()
    Notification.objects.filter(pk=held.id).update(due_at="2999-01-01T00:00Z")
    with transaction.atomic():
        assert queue.release([_given_back(held)]) == 1
        claim = Rival(lambda: _claim("other", 1, Limit(1, 3600))).start().wait_until_blocked_by_me()
    assert [row.id for row in claim.result()] == [waiting]
    assert not Gate.objects.exists()
    assert Slot.objects.count() == 1
    assert Notification.objects.filter(status=Status.PROCESSING).count() == 1


def test_claim_then_release_of_gates__the_limit_is_taken_away_meanwhile__nothing_stays_behind() -> None:
    held, waiting = _full_bucket()
    assert _claim("worker", 1, Limit(1, 3600)) == []
    Gate.objects.update(release_at="2020-01-01T00:00Z")
    [later] = add(client=Notification.objects.get(pk=waiting).client)
    with transaction.atomic():
        assert _claim("other", 1, Limit(1, 3600)) == []
        assert Rival(lambda: queue.release_parked(None)).start().result() == 0
    Gate.objects.update(release_at="2020-01-01T00:00Z")
    assert queue.release_parked(None) == 2
    assert not Notification.objects.exclude(parked_by=None).exists()
    assert [row.id for row in _claim("worker", 5, Limit(9, 3600))] == [waiting, later]
    assert held.id not in (waiting, later)


def test_release_of_gates_then_claim__the_claim_began_before_a_reservation_ran_out__only_one_has_the_slot() -> None:
    second = Limit(1, 1.0)
    first, *others = add(3)
    assert [row.id for row in _claim("worker", 5, second)] == [first]
    let_through = wait_until(lambda: queue.release_parked(second), 10, "the slot is free")
    assert let_through == 1
    gone_at = Slot.objects.get(claim_token=None).slot_at + timedelta(seconds=1)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT now()")  # from here on it stands still in this transaction
        wait_until(lambda: database_now() > gone_at, 10, "the reservation has run out")
        assert Rival(lambda: queue.release_parked(second)).start().result() == 1
        claimed = [row.id for row in _claim("other", 5, second)]
    assert claimed == others[1:]


def test_claim_then_claim__the_other_parks_behind_a_gate__others_are_taken_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hour = Limit(1, 3600)
    client = a_client()
    add(2, client=client)
    assert len(_claim("worker", 5, hour)) == 1
    assert Gate.objects.count() == 1
    monkeypatch.setattr("notifications.queue.admission.PARK_LIMIT", 1)
    add(4, client=client)
    [other] = add(client=client, recipient="eve@example.org")
    with transaction.atomic():
        assert _claim("worker", 1, hour) == []  # holds the bucket; two of the four are locked
        assert [row.id for row in Rival(lambda: _claim("other", 9, hour)).start().result()] == [other]
        waits = Rival(lambda: _claim("other", 9, hour)).start().wait_until_blocked_by_me()
    assert waits.result() == []
    assert Notification.objects.exclude(parked_by=None).count() == 5
