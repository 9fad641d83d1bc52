"""What is over the limit is moved out of the way many at a time, and each of them is written only a few times."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection

from notifications import queue
from notifications.channel import Priority
from notifications.models import Notification
from notifications.queue import Claim, Claimer, Limits
from notifications.queue.admission import PARK_LIMIT
from notifications.status import Status, WaitingReason
from ratelimits import rules
from ratelimits.models import Gate
from ratelimits.window import Limit
from tests.support.limits import claim_within, claimed_ids, parked_count, pass_time
from tests.support.rows import a_client, add, database_now

pytestmark = pytest.mark.django_db

ONE = Limit(1, 60)


def claim(most: int) -> Claim:
    return queue.claim(Claimer("worker", 60, Limits(ONE, 0.0)), most)


@pytest.fixture
def writes():
    """Counts, by notification, how often its row is written."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE write_count (id uuid) ON COMMIT DROP")
        cursor.execute(
            "CREATE FUNCTION pg_temp.count_write() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO write_count VALUES (NEW.id); RETURN NULL; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER count_write AFTER UPDATE ON notifications_notification "
            "FOR EACH ROW EXECUTE FUNCTION pg_temp.count_write()"
        )

    def count(row_id: UUID) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM write_count WHERE id = %s", [row_id])
            return int(cursor.fetchone()[0])

    return count


def test_waiting__for_many_windows__writes_the_row_at_most_three_times_until_it_is_claimed(writes):
    ids = add(12)
    for _ in range(12):
        claim_within(ONE)
        for _ in range(3):  # polls in between
            queue.release_parked(ONE)
            claim_within(ONE)
        pass_time(61)
        queue.release_parked(ONE)

    assert Notification.objects.filter(status=Status.PROCESSING).count() == 12
    assert max(writes(i) - 1 for i in ids) <= 3  # without the claim itself
    assert writes(ids[-1]) == 3  # parked, let through, claimed


def test_claim__one_recipient_has_3000_due__parks_them_in_two_rounds_and_takes_the_others_in_the_next(writes):
    client = a_client()
    hot = add(3000, client=client)
    others = [add(client=client, recipient=f"person{n}@example.org")[0] for n in range(5)]

    rounds = [claim(100) for _ in range(3)]

    assert [row.id for row in rounds[0].rows] == hot[:1]
    assert [r.parked_count for r in rounds] == [99 + PARK_LIMIT, 3000 - 100 - PARK_LIMIT, 0]
    assert [row.id for row in rounds[2].rows] == others
    parked = Notification.objects.filter(status=Status.PENDING, waiting_reason=WaitingReason.RATE_LIMITED)
    assert parked.filter(parked_by=Gate.objects.get().bucket).count() == 2999
    assert [writes(i) for i in (hot[1], hot[500], hot[-1])] == [1, 1, 1]


def test_claim__meets_a_full_limit__parks_only_what_is_due_and_counts_in_it():
    limited, free = a_client(), a_client()
    rules.store(None, channel="", client_id=free.pk, limit_count=None, window_seconds=60, by="a test")
    met, more = add(2, client=limited), add(2, client=limited, priority=Priority.LOW)
    later = add(client=limited, due_at=database_now() + timedelta(hours=1))
    others = add(client=free) + add(client=limited, recipient="eve@example.org")

    assert claim(2).parked_count == 3

    parked = Notification.objects.exclude(parked_by=None).values_list("pk", flat=True)
    assert set(parked) == {met[1], *more}
    assert set(claimed_ids(ONE)) == set(others)
    assert Notification.objects.filter(pk__in=later, waiting_reason="").exists()


def test_claim__one_was_let_through_its_gate__does_not_park_it_again():
    ids = add(3)
    claim_within(ONE)
    pass_time(61)
    assert queue.release_parked(ONE) == 1
    [high] = add(priority=Priority.HIGH)

    assert claimed_ids(ONE, 1) == []  # it met the HIGH one, which waits behind the gate

    assert set(Notification.objects.exclude(parked_by=None).values_list("pk", flat=True)) == {ids[2], high}
    assert claimed_ids(ONE) == [ids[1]]


def test_order__a_high_one_comes_after_1000_were_parked__takes_the_next_free_slot():
    add(1001)
    claim_within(ONE)
    assert parked_count() == 1000
    [high] = add(priority=Priority.HIGH)
    claim_within(ONE)

    pass_time(61)
    queue.release_parked(ONE)

    assert claimed_ids(ONE) == [high]
