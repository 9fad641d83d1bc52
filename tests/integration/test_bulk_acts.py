"""Bulk acts as the workers do them: what is touched, in which batches, and how they end."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from notifications import queue, services
from notifications.delivery.upkeep import Upkeep
from notifications.models import BulkAct, BulkAction, BulkStatus, Notification, OperatorAction
from notifications.queue import bulk, bulk_walk
from notifications.queue.retry import take_back
from notifications.status import Status, WaitingReason
from notifyq.runtime import wakeup
from notifyq.runtime.instants import rfc3339
from tests.support.bulk import OPERATOR, begin, let_pass, work_to_the_end
from tests.support.factories import ClientFactory, NotificationFactory, ago
from tests.support.plans import explain, nodes_of
from tests.support.rows import a_client, add, database_now, statuses
from tests.support.webhook_rows import an_endpoint
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db
HELD = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    monkeypatch.setattr(wakeup._notifier, "ring", lambda: None)


def dead(count=1, **columns):
    client = columns.pop("client", None) or ClientFactory()
    columns.setdefault("finished_at", ago(60))
    return NotificationFactory.create_batch(
        count, client=client, status=columns.pop("status", Status.DEAD_LETTERED), **columns
    )


def retried():
    return set(Notification.objects.filter(operator_retry_count__gt=0).values_list("pk", flat=True))


def test_retry__all_that_match__are_due_again_and_each_is_recorded():
    rows = dead(3)
    act = begin()

    work_to_the_end(act)

    assert statuses() == {Status.PENDING: 3}
    assert (act.status, act.done_count, act.skipped_count) == (BulkStatus.DONE, 3, 0)
    assert act.ended_at is not None
    recorded = OperatorAction.objects.values_list("notification", "action", "actor", "reason", "status_before")
    assert set(recorded) == {(r.pk, "RETRY", "ops", "the relay is back", "DEAD_LETTERED") for r in rows}
    assert [a.details for a in OperatorAction.objects.all()] == [{"bulkAct": str(act.pk)}] * 3


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        ({"channel": "SMS"}, {}),
        ({"error_code": "connect_failed"}, {}),
        ({"provider": "smtp"}, {}),
        ({"recipient": "ada@example.org"}, {}),
        ({"reference": "order-7"}, {"reference": "order-8"}),
        ({"status": "FAILED"}, {}),
    ],
)
def test_retry__filter__touches_only_those(wanted, other):
    columns = {"provider": "last_used_provider", "error_code": "last_error_code"}
    [match] = dead(**{columns.get(name, name): value for name, value in wanted.items()})
    dead(**other)

    work_to_the_end(begin(**{**wanted, **({"status": Status(wanted["status"])} if "status" in wanted else {})}))

    assert retried() == {match.pk}


def test_retry__client_and_window__touch_only_those():
    shop = ClientFactory()
    [early, inside, late] = [dead(client=shop, finished_at=ago(seconds))[0] for seconds in (300, 200, 100)]
    dead(finished_at=inside.finished_at)

    work_to_the_end(begin(client_id=shop.pk, after=inside.finished_at, before=late.finished_at))

    assert retried() == {inside.pk}
    assert early.pk not in retried()


def test_retry__past_their_time_or_perhaps_sent__are_counted_and_left():
    [plain], [over], [held] = dead(), dead(expires_at=ago(1)), dead(**HELD)
    act = begin()

    work_to_the_end(act)

    assert retried() == {plain.pk}
    assert (act.done_count, act.skipped_count) == (1, 2)
    assert statuses([over.pk, held.pk]) == {Status.DEAD_LETTERED: 2}


@pytest.mark.parametrize("wanted", [{"include_unsure": True}, {"error_code": "UNCONFIRMED"}])
def test_retry__asked_for_those_that_may_have_been_sent__takes_them(wanted):
    [held] = dead(**HELD)

    work_to_the_end(begin(**wanted))

    assert retried() == {held.pk}


def test_retry__fails_again_while_the_act_runs__is_not_retried_again(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_MOST", 1)
    dead(3)
    act = begin()
    queue.work_off(2.0)
    [again] = Notification.objects.filter(status=Status.PENDING)
    Notification.objects.filter(pk=again.pk).update(status=Status.DEAD_LETTERED, finished_at=database_now())

    work_to_the_end(act)

    assert act.done_count == 3
    assert set(Notification.objects.values_list("operator_retry_count", flat=True)) == {1}
    assert Notification.objects.get(pk=again.pk).status == Status.DEAD_LETTERED


@pytest.mark.parametrize(
    ("action", "status", "provider", "error"),
    [(BulkAction.RESOLVE_SENT, "SENT", "sandbox", ""), (BulkAction.RESOLVE_FAILED, "FAILED", "", "not_delivered")],
)
def test_resolve__those_held_as_unconfirmed__end_as_said_and_the_others_are_left(action, status, provider, error):
    shop = ClientFactory()
    an_endpoint(client=shop)
    held = dead(2, client=shop, **HELD)
    held += dead(client=shop, unconfirmed_provider="sandbox") + dead(client=shop, **HELD, expires_at=ago(1))
    left = [*dead(), *dead(status=Status.FAILED)]
    [later] = dead(**HELD, finished_at=ago(-60))
    act = begin(action)

    work_to_the_end(act)

    ids = {row.pk for row in held}
    ended = Notification.objects.filter(pk__in=ids).values_list("status", "provider", "last_error_code")
    assert list(ended) == [(status, provider, error)] * 4
    assert statuses([row.pk for row in (*left, later)]) == {Status.DEAD_LETTERED: 2, Status.FAILED: 1}
    told = WebhookEvent.objects.values_list("notification", "type")
    assert sorted(told) == sorted((pk, f"notification.{status.lower()}") for pk in ids)
    assert (act.status, act.done_count, act.skipped_count) == (BulkStatus.DONE, 4, 1)
    recorded = OperatorAction.objects.values_list("notification", "action", "reason", "status_before")
    assert set(recorded) == {(pk, "RESOLVE", "the relay is back", "DEAD_LETTERED") for pk in ids}
    assert [a.details for a in OperatorAction.objects.all()] == [{"bulkAct": str(act.pk), "outcome": status}] * 4


def test_cancel__waiting_ones__are_cancelled_but_none_that_came_later_or_may_have_been_sent():
    client = a_client()
    first, unsure = add(2, client=client), add(1, client=client, unconfirmed_provider="sandbox")
    cutoff = database_now()
    later = add(1, client=client)
    other = add(1)
    Notification.objects.filter(pk__in=later).update(created_at=cutoff + timedelta(seconds=1))
    Notification.objects.filter(pk__in=[*first, *unsure]).update(created_at=cutoff - timedelta(seconds=1))
    act = begin(BulkAction.CANCEL, cutoff=cutoff, client_id=client.pk)

    work_to_the_end(act)

    assert statuses(first) == {Status.CANCELLED: 2}
    assert statuses([*unsure, *later, *other]) == {Status.PENDING: 3}
    assert (act.done_count, act.skipped_count) == (2, 1)


def test_cancel__by_what_they_wait_for__goes_by_what_each_waits_for_at_its_turn(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_MOST", 1)
    parked = {"waiting_reason": "RETRY_BACKOFF", "due_at": ago(-60)}
    first, gone, come, other = (add(1, **columns)[0] for columns in (parked, parked, {}, {}))
    selection = {"waiting_reason": WaitingReason.RETRY_BACKOFF}
    wanted = queue.BulkSelection(action=BulkAction.CANCEL, status=Status.PENDING, **selection)
    assert queue.count_bulk(wanted, database_now() + timedelta(seconds=1)).actionable == 2
    act = begin(BulkAction.CANCEL, cutoff=database_now() + timedelta(seconds=1), **selection)
    assert queue.work_off(2.0) == 1

    Notification.objects.filter(pk=gone).update(waiting_reason="")
    Notification.objects.filter(pk=come).update(**parked)
    work_to_the_end(act)

    assert statuses([first, come]) == {Status.CANCELLED: 2}
    assert statuses([gone, other]) == {Status.PENDING: 2}
    assert (act.done_count, act.skipped_count) == (2, 0)


def test_reschedule__by_what_they_wait_for__each_is_moved_once():
    send_at = database_now() + timedelta(hours=3)
    [row] = add(1, waiting_reason="SCHEDULED", due_at=ago(-60))
    more = {"send_at": send_at, "waiting_reason": WaitingReason.SCHEDULED}
    act = begin(BulkAction.RESCHEDULE, cutoff=database_now() + timedelta(seconds=1), **more)
    BulkAct.objects.update(missed_count=1)  # so that there is a second pass

    work_to_the_end(act)

    assert Notification.objects.filter(pk=row, due_at=send_at).exists()
    assert OperatorAction.objects.count() == act.done_count == 1
    assert act.skipped_count == 0


def test_reschedule__waiting_ones__are_moved_once_even_over_several_passes(monkeypatch):
    send_at = database_now() + timedelta(hours=3)
    ids, [short] = add(3), add(1, expires_at=send_at - timedelta(hours=1))
    before = dict(Notification.objects.values_list("pk", "send_at"))
    act = begin(BulkAction.RESCHEDULE, send_at=send_at, cutoff=database_now() + timedelta(seconds=1))
    BulkAct.objects.update(missed_count=1)  # so that there is a second pass

    work_to_the_end(act)

    assert act.pass_number == 2
    assert set(Notification.objects.filter(pk__in=ids).values_list("due_at", "waiting_reason")) == {
        (send_at, "SCHEDULED")
    }
    assert Notification.objects.get(pk=short).due_at < send_at
    assert OperatorAction.objects.count() == act.done_count == 3
    assert {a.notification_id: a.details for a in OperatorAction.objects.all()} == {
        i: {"bulkAct": str(act.pk), "sendAt": rfc3339(send_at), "previousSendAt": rfc3339(before[i])} for i in ids
    }
    assert act.skipped_count == 1  # without those that the pass before has moved


def test_batch__its_size__is_what_the_rate_allows_by_now(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_SECONDS", 10.0)  # a scale on which a busy machine's delays do not count
    dead(60)
    act = begin(rate=1)

    def after(seconds):
        let_pass(act, seconds)
        return queue.work_off(100.0)

    assert after(19) == pytest.approx(20, abs=2)
    assert [after(0), after(3)] == [0, 0]  # many tiny batches would cost more than they do
    assert after(10) == pytest.approx(13, abs=3)


def test_batch__rate_unused_for_long__makes_up_for_the_burst_alone(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_SECONDS", 10.0)
    dead(30)
    act = begin(rate=10)
    let_pass(act, 3600)

    assert queue.work_off(2.0) == 20
    assert queue.work_off(2.0) == 0


@pytest.mark.parametrize("action", [BulkAction.RETRY, BulkAction.CANCEL, BulkAction.RESOLVE_SENT])
def test_walk__few_match_among_many__goes_on_window_by_window(monkeypatch, action):
    monkeypatch.setattr(bulk_walk, "WINDOW", 4)
    waits = action is BulkAction.CANCEL
    same = {"status": Status.PENDING} if waits else {"status": Status.DEAD_LETTERED, "finished_at": ago(60)}
    rows = NotificationFactory.create_batch(
        11, client=ClientFactory(), **same, **(HELD if action is BulkAction.RESOLVE_SENT else {})
    )
    for row in rows[2], rows[9]:
        Notification.objects.filter(pk=row.pk).update(channel="SMS")
    act = begin(action, channel="SMS")

    batches = work_to_the_end(act)

    assert (act.done_count, batches) == (2, 3)


def test_stop_and_resume__goes_on_where_it_stood(monkeypatch):
    monkeypatch.setattr(bulk, "BATCH_MOST", 2)
    dead(5)
    act = begin()
    assert queue.work_off(2.0) == 2

    assert queue.stop_bulk(act.pk, OPERATOR)
    assert not queue.stop_bulk(act.pk, OPERATOR)
    let_pass(act, 5.0)
    assert queue.work_off(2.0) == 0
    assert queue.resume_bulk(act.pk, OPERATOR)
    assert not queue.resume_bulk(act.pk, OPERATOR)
    work_to_the_end(act)

    assert act.done_count == 5
    assert OperatorAction.objects.count() == 5
    assert [(e["what"], e["by"]) for e in act.history] == [("BEGUN", "ops"), ("STOPPED", "ops"), ("RESUMED", "ops")]
    assert not queue.stop_bulk(act.pk, OPERATOR)
    assert not queue.resume_bulk(act.pk, OPERATOR)


def test_begin__same_form_or_same_filter_while_it_runs__is_one_act():
    form = uuid4()
    first = begin(form_id=form)

    assert begin(form_id=form).pk == first.pk
    assert begin().pk == first.pk
    assert begin(channel="SMS").pk != first.pk
    queue.stop_bulk(first.pk, OPERATOR)
    second = begin()
    assert second.pk != first.pk
    assert not queue.resume_bulk(first.pk, OPERATOR)  # the same filter is being worked off
    assert begin(form_id=form).pk == first.pk


def test_batch__breaks__is_undone_and_after_five_the_act_has_failed_and_can_be_resumed(monkeypatch):
    dead(2)
    act = begin()

    def broken(before, *more):
        take_back(before, *more)
        raise DatabaseError("no")

    with monkeypatch.context() as patched:
        patched.setattr(bulk_walk, "take_back", broken)
        for _ in range(bulk.FAILURES_MOST):
            let_pass(act, 60.0)
            assert queue.work_off(2.0) == 0
    act.refresh_from_db()

    assert (act.status, act.failure, act.done_count, act.cursor_id) == (BulkStatus.FAILED, "DatabaseError", 0, None)
    assert statuses() == {Status.DEAD_LETTERED: 2}
    assert queue.resume_bulk(act.pk, OPERATOR)
    work_to_the_end(act)
    assert (act.status, act.done_count, act.failure) == (BulkStatus.DONE, 2, "")


def test_work_off__nothing_runs__costs_one_query(django_assert_num_queries):
    with django_assert_num_queries(1):
        assert queue.work_off(2.0) == 0


def test_count__mixed__tells_each_kind_and_gives_up_in_time(monkeypatch):
    dead(2)
    dead(expires_at=ago(1))
    dead(**HELD)
    selection = queue.BulkSelection(action=BulkAction.RETRY, status=Status.DEAD_LETTERED)

    count = queue.count_bulk(selection, database_now())

    assert (count.total, count.actionable, count.unsure, count.known, count.out_of_time) == (4, 2, 1, 0, 1)
    resolve = queue.BulkSelection(action=BulkAction.RESOLVE_FAILED, status=Status.DEAD_LETTERED)
    count = queue.count_bulk(resolve, database_now())
    assert (count.total, count.actionable, count.unsure, count.known, count.out_of_time) == (4, 1, 0, 3, 0)
    assert [r.pk for r in queue.sample_bulk(selection, database_now(), 1)] == [
        Notification.objects.filter(last_error_code="a_reason", expires_at=None).order_by("finished_at", "id")[0].pk
    ]


def test_selection__stored_and_read_again__is_the_same():
    selection = queue.BulkSelection(
        action=BulkAction.RETRY,
        status=Status.FAILED,
        channel="SMS",
        client_id=uuid4(),
        recipient="+41790000000",
        after=database_now(),
        include_unsure=True,
    )

    assert queue.BulkSelection.from_json(selection.as_json()) == selection


def test_upkeep__of_a_worker__works_bulk_acts_off():
    dead(2)
    act = begin()

    Upkeep({}, 1.0, None).run_once()

    act.refresh_from_db()
    assert (act.status, act.done_count) == (BulkStatus.DONE, 2)


MANY = """
INSERT INTO notifications_notification (id, status, client_id, idempotency_key, fingerprint, channel, recipient,
  send_at, max_attempts, on_unconfirmed, finished_at, last_error_code)
SELECT gen_random_uuid(), CASE n % 4 WHEN 0 THEN 'DEAD_LETTERED' WHEN 1 THEN 'PENDING' ELSE 'SENT' END, %s,
  'many ' || n, '', 'EMAIL', 'ada@example.org', now(), 6, 'RETRY',
  CASE WHEN n % 4 <> 1 THEN now() - n * interval '1 s' END,
  CASE n % 8 WHEN 0 THEN 'UNCONFIRMED' ELSE 'x' END
FROM generate_series(1, 20000) n
"""


def test_walk__on_a_big_table__reads_its_index_and_no_more_than_its_window(monkeypatch):
    monkeypatch.setattr(bulk_walk, "WINDOW", 500)
    monkeypatch.setattr(bulk, "BATCH_MOST", 50)
    with connection.cursor() as cursor:
        cursor.execute(MANY.replace("% ", "%% "), [ClientFactory().pk])
        cursor.execute("ANALYZE notifications_notification")
    services.trip_breaker("EMAIL", "sandbox", by="ops")
    expected: list = [
        (BulkAction.RETRY, {}, "notification_undelivered"),
        (BulkAction.RESOLVE_SENT, {}, "notification_undelivered"),
        (BulkAction.CANCEL, {}, "notification_waiting"),
        (BulkAction.CANCEL, {"waiting_reason": WaitingReason.PROVIDER_UNAVAILABLE}, "notification_waiting"),
    ]
    for number, (action, wanted, index) in enumerate(expected):
        act = begin(action, cutoff=database_now() + timedelta(days=1), **wanted)
        assert queue.work_off(2.0) == 50  # a first batch, so that the second has a cursor
        let_pass(act, 2.0)
        with CaptureQueriesContext(connection) as caught:
            assert queue.work_off(2.0) == 50
        looks = [q["sql"] for q in caught.captured_queries if _is_walk(q["sql"])]
        assert len(looks) == 3  # the window's end, the rows, what is skipped between them
        for sql in looks:
            nodes = list(nodes_of(explain(sql)))
            assert {n.get("Index Name") for n in nodes if "Index" in n["Node Type"]} == {index}, sql
            assert not [n for n in nodes if "Seq Scan" in n["Node Type"]], sql
            # The 100 entries that each act before has left dead are met again: nothing was vacuumed yet.
            met = max(n["Actual Rows"] + n.get("Rows Removed by Filter", 0) for n in nodes)
            assert met <= 501 + 100 * number, sql
        queue.stop_bulk(act.pk, OPERATOR)


def _is_walk(sql):
    return sql.startswith("SELECT") and 'FROM "notifications_notification"' in sql and "FOR NO KEY" not in sql


def test_end__something_is_held_in_every_pass__the_act_ends_all_the_same(monkeypatch):
    dead(2)
    monkeypatch.setattr(bulk_walk, "lock", lambda rows, columns, limit: [])
    act = begin()

    work_to_the_end(act)

    assert (act.status, act.done_count, act.missed_count, act.pass_number) == (
        *(BulkStatus.DONE, 0, 2),
        bulk.PASSES_MOST,
    )
