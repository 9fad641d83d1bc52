"""Aging: what has been due for long goes before newer HIGH ones, and nothing else changes."""

import pytest
from django.db.models.functions import Now

from notifications import queue
from notifications.channel import Priority
from notifications.delivery.upkeep import Upkeep
from notifications.models import Notification
from notifications.status import Status
from tests.support.limits import claimed_ids
from tests.support.rows import add, move

pytestmark = pytest.mark.django_db

HOUR = 3600


def due_ago(seconds, **fields):
    [row_id] = add(**fields)
    move(row_id, due_at=-seconds)
    return row_id


def test_promote__due_for_long__is_served_between_older_and_newer_high_ones():
    oldest = due_ago(3 * HOUR, priority=Priority.HIGH)
    low = due_ago(2 * HOUR, priority=Priority.LOW)
    newer = due_ago(HOUR, priority=Priority.HIGH)
    normal = due_ago(10)

    assert queue.promote(1.5 * HOUR) == 1

    assert claimed_ids(None) == [oldest, low, newer, normal]


def test_promote__not_yet_due_for_so_long__changes_nothing():
    low = due_ago(HOUR - 60, priority=Priority.LOW)
    high = due_ago(10, priority=Priority.HIGH)

    assert queue.promote(HOUR) == 0
    assert claimed_ids(None) == [high, low]


def test_promote__more_than_a_pass_takes__goes_in_batches_normal_before_low():
    low = [due_ago(2 * HOUR + n, priority=Priority.LOW) for n in range(2)]
    normal = [due_ago(2 * HOUR + n) for n in range(3)]

    assert queue.promote(HOUR, limit=3) == 3
    assert set(Notification.objects.filter(promoted=True).values_list("pk", flat=True)) == set(normal)
    assert [queue.promote(HOUR, limit=3) for _ in range(2)] == [2, 0]
    assert set(claimed_ids(None)) == {*low, *normal}


@pytest.mark.parametrize("changes", [{"suspect": True}, {"parked_by": "00000000-0000-0000-0000-000000000001"}])
def test_promote__suspect_or_parked__is_left_alone(changes):
    due_ago(2 * HOUR)
    Notification.objects.update(**changes)

    assert queue.promote(HOUR) == 0


def test_promoted__in_the_api__keeps_its_own_priority(caller):
    row_id = due_ago(2 * HOUR, client=caller.client, priority=Priority.LOW)
    queue.promote(HOUR)

    assert Notification.objects.get().rank == Priority.HIGH
    assert caller.get(f"/api/v1/notifications/{row_id}").json()["priority"] == "LOW"


@pytest.mark.parametrize(("aging_seconds", "promoted"), [(0.0, False), (HOUR, True)])
def test_upkeep__aging_is_off_unless_it_is_set(aging_seconds, promoted):
    due_ago(2 * HOUR)

    Upkeep({}, 1.0, None, aging_seconds).run_once()

    assert Notification.objects.get().promoted is promoted


@pytest.mark.parametrize("priority", list(Priority))
def test_rank__of_a_new_row__is_its_priority(priority):
    add(priority=priority)

    assert Notification.objects.get().rank == priority


def test_retried_by_an_operator__starts_again_at_its_own_priority(operator):
    row_id = due_ago(2 * HOUR, priority=Priority.LOW)
    queue.promote(HOUR)
    Notification.objects.update(status=Status.FAILED, finished_at=Now(), last_error_code="no_such_address")

    assert operator.post(f"/api/v1/notifications/{row_id}/retry").status_code == 200

    assert Notification.objects.get().rank == Priority.LOW


def test_rescheduled__starts_again_at_its_own_priority(caller):
    row_id = due_ago(2 * HOUR, client=caller.client, priority=Priority.LOW)
    queue.promote(HOUR)

    assert caller.post(f"/api/v1/notifications/{row_id}/reschedule", {"delaySeconds": 0}).status_code == 200

    assert Notification.objects.get().rank == Priority.LOW
