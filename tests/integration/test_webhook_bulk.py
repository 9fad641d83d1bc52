"""Bulk acts on webhook events as the workers do them: which are delivered again, once, and what is recorded."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from notifications import queue
from notifications.delivery.upkeep import Upkeep
from notifications.errors import InvalidRequest
from notifications.models import BulkStatus
from notifications.queue import Act
from notifyq.leasing import lock
from tests.support.bulk import OPERATOR, let_pass, work_to_the_end
from tests.support.plans import explain, nodes_of
from tests.support.rows import database_now
from tests.support.webhook_rows import an_endpoint, an_event, reloaded, some_events
from webhooks import selectors, services
from webhooks.models import Redelivery, WebhookEvent
from webhooks.queue import EventSelection, bulk
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db
FAILED = EventStatus.FAILED


@pytest.fixture(autouse=True)
def wakes(monkeypatch):
    """How often the dispatchers were to be woken; nobody is."""
    rung: list[str] = []
    monkeypatch.setattr("webhooks.queue.wake.notify", rung.append)
    return rung


def begin(*, cutoff=None, **wanted):
    act, _ = queue.begin_bulk(
        EventSelection(**wanted),
        Act(OPERATOR, "their server is back"),
        form_id=uuid4(),
        cutoff=cutoff or database_now() + timedelta(seconds=1),
        rate_per_second=1000,
        previewed_count=None,
    )
    let_pass(act, 1.0)
    return act


def again():
    """The events that were delivered again."""
    return set(WebhookEvent.objects.filter(cycle__gt=1).values_list("pk", flat=True))


def test_redeliver__all_that_match__are_due_again_as_they_were_and_each_is_recorded(
    wakes, django_capture_on_commit_callbacks
):
    events = some_events(an_endpoint(), 3, status=FAILED, attempt_count=10)
    act = begin()

    with django_capture_on_commit_callbacks(execute=True):
        work_to_the_end(act)

    assert (act.status, act.done_count, act.skipped_count) == (BulkStatus.DONE, 3, 0)
    for event in events:
        now = reloaded(event)
        assert (now.status, now.cycle, now.attempt_count, now.finished_at) == (EventStatus.PENDING, 2, 0, None)
        assert (now.body, now.sequence) == (event.body, event.sequence)
    recorded = Redelivery.objects.values_list("event", "actor_kind", "actor", "reason", "status_before")
    assert set(recorded) == {(e.pk, "USER", "ops", "their server is back", "FAILED") for e in events}
    assert [row.details for row in Redelivery.objects.all()] == [{"bulkAct": str(act.pk)}] * 3
    assert wakes


@pytest.mark.parametrize(
    ("wanted", "columns"),
    [
        ({"status": EventStatus.CANCELLED}, {"status": EventStatus.CANCELLED}),
        ({"type": "notification.failed"}, {"type": "notification.failed"}),
        ({"error_code": "timeout"}, {"last_error_code": "timeout"}),
    ],
)
def test_redeliver__filter__touches_only_those(wanted, columns):
    endpoint = an_endpoint()
    match, _other = an_event(endpoint, **{"status": FAILED} | columns), an_event(endpoint, status=FAILED)

    work_to_the_end(begin(**wanted))

    assert again() == {match.pk}


def test_redeliver__endpoint_client_and_window__touch_only_those():
    endpoint, neighbour = an_endpoint(), an_endpoint()
    now = database_now()
    early, inside, late = (
        an_event(endpoint, status=FAILED, created_at=now - timedelta(seconds=s)) for s in (300, 200, 100)
    )
    an_event(neighbour, status=FAILED, created_at=inside.created_at)
    window = {"after": inside.created_at, "before": late.created_at}

    work_to_the_end(begin(endpoint_id=endpoint.pk, **window))
    assert again() == {inside.pk}
    work_to_the_end(begin(client_id=endpoint.client_id, before=inside.created_at))
    assert again() == {early.pk, inside.pk}


def test_redeliver__any_finished__leaves_what_waits_or_is_on_its_way():
    endpoint = an_endpoint()
    made = {status: an_event(endpoint, status=status).pk for status in EventStatus}

    work_to_the_end(begin(status=None))

    assert again() == {made[s] for s in (EventStatus.DELIVERED, EventStatus.FAILED, EventStatus.CANCELLED)}


def test_redeliver__waiting_for_a_retry__are_due_now_and_keep_what_was_tried(wakes, django_capture_on_commit_callbacks):
    endpoint = an_endpoint()
    later = database_now() + timedelta(hours=5)
    waiting = some_events(endpoint, 2, attempt_count=4, due_at=later)
    due, busy = an_event(endpoint), an_event(endpoint, status=EventStatus.PROCESSING)
    an_event(an_endpoint(enabled=False), due_at=later)
    newer = an_event(endpoint, due_at=later, created_at=later)
    selection = EventSelection(status=EventStatus.PENDING)
    count = services.preview_redelivery(selection, database_now() + timedelta(seconds=1)).count
    act = begin(status=EventStatus.PENDING)

    with django_capture_on_commit_callbacks(execute=True):
        work_to_the_end(act)

    assert (count.total, count.actionable) == (3, 2)
    assert (act.done_count, act.skipped_count) == (2, 1)
    for event in map(reloaded, waiting):
        assert (event.status, event.cycle, event.attempt_count) == (EventStatus.PENDING, 1, 4)
        assert event.due_at <= database_now()
    for event in due, busy, newer:
        assert reloaded(event).due_at == event.due_at
    recorded = Redelivery.objects.values_list("event", "actor", "status_before")
    assert set(recorded) == {(e.pk, "ops", "PENDING") for e in waiting}
    assert wakes


def test_redeliver__waiting_and_fails_again_while_the_act_runs__is_tried_once_by_it(monkeypatch):
    endpoint = an_endpoint()
    later = database_now() + timedelta(hours=5)
    [first, held] = some_events(endpoint, 2, due_at=later)
    act = begin(status=EventStatus.PENDING)
    with monkeypatch.context() as patched:
        patched.setattr(bulk, "lock", lambda rows, *rest: lock(rows.exclude(pk=held.pk), *rest))
        assert queue.work_off(2.0) == 1
    WebhookEvent.objects.filter(pk=first.pk).update(due_at=later, attempt_count=5)

    work_to_the_end(act)

    assert (reloaded(first).due_at, act.status, act.done_count) == (later, BulkStatus.DONE, 2)
    assert reloaded(held).due_at <= database_now()


def test_redeliver__one_that_is_due__keeps_its_place():
    event = an_event(due_at=database_now() - timedelta(minutes=5))

    services.redeliver(event.pk, None)

    assert reloaded(event).due_at == event.due_at


def test_redeliver__endpoint_is_disabled__is_counted_and_left_as_the_api_does():
    open_event, closed = an_event(status=FAILED), an_event(an_endpoint(enabled=False), status=FAILED)
    count = services.preview_redelivery(EventSelection(), database_now() + timedelta(seconds=1)).count
    act = begin()

    work_to_the_end(act)

    assert (count.total, count.actionable, count.closed) == (2, 1, 1)
    assert again() == {open_event.pk}
    assert (act.done_count, act.skipped_count) == (1, 1)
    assert reloaded(closed).status == FAILED


def test_redeliver__fails_again_while_the_act_runs__is_not_delivered_again(monkeypatch):
    monkeypatch.setattr("notifications.queue.bulk.BATCH_MOST", 1)
    events = some_events(an_endpoint(), 3, status=FAILED)
    act = begin()
    queue.work_off(2.0)
    WebhookEvent.objects.filter(pk=events[0].pk).update(status=FAILED, finished_at=Now() + timedelta(minutes=1))

    work_to_the_end(act)

    assert act.done_count == 3
    assert set(WebhookEvent.objects.values_list("cycle", flat=True)) == {2}


def test_redeliver__redelivered_by_somebody_else_since_the_look__is_left():
    event = an_event(status=FAILED)
    act = begin()
    services.redeliver(event.pk, None, actor=OPERATOR, reason="just this one")

    work_to_the_end(act)

    assert (reloaded(event).cycle, act.done_count, Redelivery.objects.count()) == (2, 0, 1)


def test_stop_and_resume__goes_on_where_it_stood(monkeypatch):
    monkeypatch.setattr("notifications.queue.bulk.BATCH_MOST", 2)
    some_events(an_endpoint(), 5, status=FAILED)
    act = begin()
    assert queue.work_off(2.0) == 2

    assert queue.stop_bulk(act.pk, OPERATOR)
    let_pass(act, 5.0)
    assert queue.work_off(2.0) == 0
    assert queue.resume_bulk(act.pk, OPERATOR)
    work_to_the_end(act)

    assert (act.done_count, Redelivery.objects.count()) == (5, 5)


def test_batch__breaks__is_undone_with_its_record(monkeypatch):
    some_events(an_endpoint(), 2, status=FAILED)
    act = begin()

    def broken(act, before):
        raise DatabaseError("no")

    with monkeypatch.context() as patched:
        patched.setattr(bulk, "record", broken)
        assert queue.work_off(2.0) == 0
    act.refresh_from_db()

    assert (act.failure, act.done_count, again()) == ("DatabaseError", 0, set())
    let_pass(act, 60.0)
    work_to_the_end(act)
    assert (act.status, act.done_count) == (BulkStatus.DONE, 2)


def test_walk__few_match_among_many__goes_on_window_by_window(monkeypatch):
    monkeypatch.setattr(bulk, "WINDOW", 4)
    events = some_events(an_endpoint(), 11, status=FAILED)
    for event in events[2], events[9]:
        WebhookEvent.objects.filter(pk=event.pk).update(last_error_code="timeout")
    act = begin(error_code="timeout")

    batches = work_to_the_end(act)

    assert (act.done_count, batches) == (2, 3)


def test_walk__of_those_that_somebody_holds__passes_them_over(monkeypatch):
    an_event(status=FAILED)
    monkeypatch.setattr(bulk, "lock", lambda rows, columns, limit: [])
    act = begin()

    assert queue.work_off(2.0) == 0

    act.refresh_from_db()
    assert (act.status, act.pass_number) == (BulkStatus.RUNNING, 2)


def test_upkeep__of_a_worker__works_it_off_beside_the_others():
    some_events(an_endpoint(), 2, status=FAILED)
    act = begin()

    Upkeep({}, 1.0, None).run_once()

    act.refresh_from_db()
    assert (act.status, act.done_count) == (BulkStatus.DONE, 2)


MANY = """
INSERT INTO webhooks_webhookevent (id, status, endpoint_id, sequence, type, body, due_at, finished_at, created_at)
SELECT lpad(to_hex(2 * n + %s), 32, '0')::uuid, CASE n %% 50 WHEN 0 THEN %s ELSE 'DELIVERED' END, %s, 1,
       'notification.sent', '{}', now() + interval '1 hour', CASE WHEN n %% 50 > 0 OR %s THEN now() END, now()
FROM generate_series(1, 10000) n
"""


@pytest.mark.parametrize(
    ("by_endpoint", "indexes"), [(True, ("event_endpoint",)), (False, ("event_endpoint", "webhookevent_pkey"))]
)
@pytest.mark.parametrize("status", [FAILED, EventStatus.PENDING])
def test_walk__on_a_big_table__reads_its_index_and_no_more_than_its_window(monkeypatch, by_endpoint, indexes, status):
    monkeypatch.setattr(bulk, "WINDOW", 500)
    monkeypatch.setattr("notifications.queue.bulk.BATCH_MOST", 5)
    an_endpoint(enabled=False)  # which makes it count what it leaves
    endpoints = [an_endpoint(), an_endpoint()]
    with connection.cursor() as cursor:
        for number, endpoint in enumerate(endpoints):
            cursor.execute(MANY, [number, status, endpoint.pk, status == FAILED])
        cursor.execute("ANALYZE webhooks_webhookevent")
    act = begin(status=status, endpoint_id=endpoints[0].pk if by_endpoint else None)
    assert queue.work_off(2.0) == 5  # a first batch, so that the second has a cursor
    let_pass(act, 2.0)

    with CaptureQueriesContext(connection) as caught:
        assert queue.work_off(2.0) == 5

    looks = [q["sql"] for q in caught.captured_queries if _is_walk(q["sql"])]
    assert len(looks) == 3  # the window's end, the rows, what is skipped between them
    for sql in looks:
        nodes = list(nodes_of(explain(sql)))
        assert all(n["Index Name"].endswith(indexes) for n in nodes if "Index" in n["Node Type"]), sql
        assert not [n for n in nodes if "Seq Scan" in n["Node Type"]], sql
        assert max(n["Actual Rows"] + n.get("Rows Removed by Filter", 0) for n in nodes) <= 520, (
            sql
        )  # and some dead entries


@pytest.mark.parametrize(
    ("status", "look", "index"),
    [
        (EventStatus.PENDING, lambda pk: selectors.count_waiting(pk), "webhook_event_claim"),
        (EventStatus.CANCELLED, lambda pk: selectors.count_cancelled([pk]), "webhook_event_cancelled"),
    ],
)
def test_counts__on_a_big_table__read_nothing_but_what_they_count(status, look, index):
    endpoint = an_endpoint()
    with connection.cursor() as cursor:
        cursor.execute(MANY, [0, status, endpoint.pk, status == EventStatus.CANCELLED])
        cursor.execute("ANALYZE webhooks_webhookevent")

    with CaptureQueriesContext(connection) as caught:
        assert look(endpoint.pk) == 200

    nodes = list(nodes_of(explain(caught.captured_queries[0]["sql"])))
    assert {n["Index Name"] for n in nodes if "Index Name" in n} == {index}
    assert not [n for n in nodes if "Seq Scan" in n["Node Type"]]


def _is_walk(sql):
    return sql.startswith("SELECT") and 'FROM "webhooks_webhookevent"' in sql and "FOR NO KEY" not in sql


def test_record__of_a_redelivery__is_not_changed_and_goes_with_its_event():
    event = an_event(status=FAILED)
    services.redeliver(event.pk, None, actor=OPERATOR, reason="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Redelivery.objects.update(reason="y")
    with pytest.raises(IntegrityError), transaction.atomic():
        _delete_and_check(Redelivery.objects.all())

    _delete_and_check(WebhookEvent.objects.filter(pk=event.pk))
    assert not Redelivery.objects.exists()


def _delete_and_check(rows):
    rows._raw_delete("default")
    connection.check_constraints()  # the trigger is deferred


def test_redeliver__by_the_api__is_recorded_as_nobodys():
    event = an_event(status=FAILED)
    services.redeliver(event.pk, None)

    assert not Redelivery.objects.exists()


def test_selection__stored_and_read_again__is_the_same():
    for selection in (
        EventSelection(),
        EventSelection(status=EventStatus.PENDING),
        EventSelection(status=None, endpoint_id=uuid4(), client_id=uuid4(), type="t", after=database_now()),
    ):
        assert EventSelection.from_json(selection.as_json()) == selection


@pytest.mark.parametrize(
    ("raw", "wrong"),
    [
        ({"status": "processing"}, "status"),
        ({"endpoint": "x"}, "endpoint"),
        ({"client": "nobody"}, "client"),
        ({"after": "yesterday"}, "after"),
        ({"after": "2026-01-02", "before": "2026-01-01"}, "before"),
        ({"type": "x" * 41}, "type"),
        ({"error_code": "a\x00b"}, "error_code"),
    ],
)
def test_read__wrong_value__is_told(raw, wrong):
    with pytest.raises(InvalidRequest) as told:
        services.read_redelivery(raw)

    assert [error.field for error in told.value.errors] == [wrong]


def test_read__nothing_and_everything__means_failed_ones_and_just_those():
    endpoint = an_endpoint()
    full = {"endpoint": str(endpoint.pk), "client": endpoint.client.name, "status": "finished", "before": "2026-01-31"}

    read = services.read_redelivery(full)

    assert services.read_redelivery({}) == EventSelection(status=FAILED)
    assert (read.status, read.endpoint_id, read.client_id) == (None, endpoint.pk, endpoint.client_id)
    assert read.before.isoformat() == "2026-01-31T00:00:00+00:00"
