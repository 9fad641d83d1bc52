"""Pairs of rivals over one webhook event, and two dispatchers over many. Real connections, no sleeping."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connection, transaction

from tests.support.receiver import Receiver
from tests.support.rivals import Rival
from tests.support.webhook_rows import SECRET, an_endpoint, an_event, moved, reloaded, some_events
from webhooks import queue
from webhooks.dispatch.call import EndpointCaller
from webhooks.dispatch.dispatcher import Dispatcher, DispatcherOptions
from webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.outcome import Decision, given_back
from webhooks.queue import AttemptRecord, Ending
from webhooks.queue.claim import _WAITING
from webhooks.status import FINAL, EventStatus

pytestmark = pytest.mark.django_db(transaction=True)


def in_thread(function, *args, **kwargs):
    """Run it on a connection of its own."""

    def run():
        try:
            return function(*args, **kwargs)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result(20)


def claim_one(event, **more):
    (claimed,) = queue.claim({event.endpoint_id: 1}, worker_id="w", lease_seconds=45, max_attempts=10, **more)
    return claimed


def ending(claimed, decision=Decision(EventStatus.DELIVERED, response_status=200)):  # noqa: B008 (frozen)
    attempt = AttemptRecord(
        cycle=1,
        number=1,
        response_status=200,
        response_excerpt="",
        error_code="",
        started_ago_seconds=0.1,
        finished_ago_seconds=0.0,
        worker_id="w",
    )
    return Ending(claimed.id, claimed.token, claimed.endpoint_id, decision, attempt)


def test_claim__locked_by_a_rival__passes_over():
    endpoint = an_endpoint()
    first, second = some_events(endpoint, 2)
    with transaction.atomic():
        WebhookEvent.objects.select_for_update(no_key=True).get(pk=first.pk)
        rows = in_thread(queue.claim, {endpoint.pk: 5}, worker_id="w", lease_seconds=45, max_attempts=10)

    assert [row.id for row in rows] == [second.pk]


def test_claim__while_an_attempt_is_being_inserted__is_not_blocked():
    event = an_event()
    with transaction.atomic():
        WebhookAttempt.objects.create(
            event=event, cycle=1, number=1, finished_at="2026-01-01T00:00:00Z", worker_id="w", claim_token=uuid4()
        )
        assert in_thread(claim_one, event).id == event.pk


def test_settle__after_rescue__changes_nothing_and_leaves_no_history():
    event = an_event()
    claimed = claim_one(event)
    moved(event, lease_expires_at=-1)
    assert queue.rescue(max_attempts=10) == 1

    assert queue.settle([ending(claimed)]) == []
    assert queue.release([ending(claimed, given_back())]) == 0

    assert reloaded(event).status == EventStatus.PENDING
    assert [a.error_code for a in event.attempts.all()] == ["lost"]


def test_settle__after_rescue_and_a_new_claim__cannot_touch_the_new_holders_lease():
    event = an_event()
    stale = claim_one(event)
    moved(event, lease_expires_at=-1)
    queue.rescue(max_attempts=10)
    fresh = claim_one(event)

    assert queue.settle([ending(stale)]) == []
    assert len(queue.settle([ending(fresh)])) == 1
    assert reloaded(event).status == EventStatus.DELIVERED


def test_rescue__after_settle__finds_nothing():
    event = an_event()
    claimed = claim_one(event)
    queue.settle([ending(claimed)])

    assert queue.rescue(max_attempts=10) == 0
    assert queue.settle([ending(claimed)]) == []
    assert event.attempts.count() == 1


def test_rescue__in_its_lease__leaves_it_alone():
    claim_one(an_event())

    assert queue.rescue(max_attempts=10) == 0


def test_rescue__again_and_again__ends_an_event_that_kills_dispatchers():
    event = an_event()
    for _ in range(4):
        moved(event, due_at=-1)
        claim_one(event)
        moved(event, lease_expires_at=-1)
        queue.rescue(max_attempts=3)

    event = reloaded(event)
    assert (event.status, event.last_error_code, event.attempt_count) == (EventStatus.FAILED, "lost", 3)


def test_release__of_a_held_one__gives_the_attempt_back_at_its_old_place():
    event = an_event()
    claimed = claim_one(event)

    assert queue.release([ending(claimed, given_back())]) == 1

    after = reloaded(event)
    assert (after.status, after.attempt_count, after.due_at) == (EventStatus.PENDING, 0, event.due_at)
    assert after.attempts.count() == 0


def test_cancel__against_a_claim__either_wins_whole():
    event = an_event()
    claimed = claim_one(event)
    WebhookEndpoint.objects.update(enabled=False, disabled_at=event.created_at)

    assert queue.cancel_waiting(event.endpoint_id) == 0  # it is on its way
    queue.settle([ending(claimed, Decision(EventStatus.PENDING, "http_500", 500, wait_seconds=0.0))])
    assert queue.claim({event.endpoint_id: 1}, worker_id="w", lease_seconds=45, max_attempts=10) == []
    assert queue.cancel_waiting(event.endpoint_id) == 1
    assert reloaded(event).status == EventStatus.CANCELLED


def test_requeue__twice_at_once__has_one_effect():
    event = an_event(status=EventStatus.DELIVERED)
    barrier = threading.Barrier(2)

    def again():
        barrier.wait(10)
        try:
            return queue.requeue(event.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        done = [f.result(20) for f in [pool.submit(again) for _ in range(2)]]

    assert done == [True, True]
    assert (reloaded(event).cycle, reloaded(event).status) == (2, EventStatus.PENDING)


@pytest.mark.parametrize("status", [EventStatus.DELIVERED, EventStatus.FAILED])
def test_requeue__as_seen_twice_at_once__only_one_does_it(status):
    event = an_event(status=status)
    seen = queue.Seen(event.cycle, event.status, event.attempt_count)

    with transaction.atomic():
        assert queue.requeue(event.pk, seen)
        again = Rival(lambda: queue.requeue(event.pk, seen)).start().wait_until_blocked_by_me()

    assert again.result() is False
    assert reloaded(event).cycle == 2


def test_requeue__of_one_on_its_way__is_refused():
    event = an_event()
    claim_one(event)

    assert queue.requeue(event.pk) is False


@pytest.mark.parametrize("refused", ["\x00", "\ud800"])
def test_settle__text_that_the_database_refuses__costs_the_text_and_no_other_event(refused):
    endpoint = an_endpoint()
    some_events(endpoint, 2)
    rows = queue.claim({endpoint.pk: 2}, worker_id="w", lease_seconds=45, max_attempts=10)
    endings = [ending(row) for row in rows]
    bad = AttemptRecord(1, 1, 200, refused, "", 0.1, 0.0, "w")
    endings[0] = Ending(rows[0].id, rows[0].token, rows[0].endpoint_id, endings[0].decision, bad)

    assert len(queue.settle(endings)) == 2
    assert set(WebhookEvent.objects.values_list("status", flat=True)) == {EventStatus.DELIVERED}
    assert WebhookAttempt.objects.count() == 2


@pytest.mark.parametrize("status", list(EventStatus))
def test_settle__to_each_status__only_where_the_table_allows(status):
    claimed = claim_one(an_event())
    forbidden = status not in FINAL | {EventStatus.PENDING}
    if forbidden:
        with pytest.raises(ValueError, match="may not move"):
            queue.settle([ending(claimed, Decision(status))])
    else:
        assert len(queue.settle([ending(claimed, Decision(status))])) == 1


def dispatch(results):
    try:
        options = DispatcherOptions(
            seat_count=8, max_attempts=10, poll_seconds=0.2, grace_seconds=5, wakeup=False, forever=False
        )
        dispatcher = Dispatcher(options, EndpointCaller(timeout_seconds=10, allow_private=True))
        results.append((dispatcher.run(), dispatcher.counts))
    finally:
        connection.close()


def test_two_dispatchers__at_once_over_200_events__each_arrives_once():
    with Receiver() as one, Receiver() as two:
        events = [e for r in (one, two) for e in some_events(an_endpoint(r.url), 100)]
        results: list[tuple[bool, Counter]] = []
        threads = [threading.Thread(target=dispatch, args=(results,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        received = [*one.requests, *two.requests]

    assert Counter(r.event_id for r in received) == Counter(str(e.pk) for e in events)
    assert all(r.verify(SECRET) for r in received)
    assert sum((counts for _, counts in results), Counter()) == {EventStatus.DELIVERED: 200}
    assert all(settled for settled, _ in results)
    assert set(WebhookEvent.objects.values_list("status", "attempt_count")) == {("DELIVERED", 1)}
    assert WebhookAttempt.objects.count() == 200


def test_waiting_endpoints__with_backlogs__are_found_by_jumping_through_the_index():
    for _ in range(3):
        some_events(an_endpoint(), 2000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_webhookevent")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) {_WAITING}")
        plan = cursor.fetchone()[0][0]["Plan"]

    scans = [n for n in nodes(plan) if n.get("Relation Name") == "webhooks_webhookevent"]
    assert {n.get("Index Name") for n in scans} == {"webhook_event_claim"}
    assert sum(n["Actual Rows"] * n["Actual Loops"] for n in scans) <= 10
    assert len(queue.waiting_endpoints()) == 3


def nodes(plan):
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)
