"""POST /api/v1/notifications/{id}/retry and /api/v1/notifications/retry"""

import json
import logging
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from notifications import queue
from notifications.models import Notification, OperatorAction
from notifications.status import FINAL, Status, allowed
from notifyq.runtime.logs import JsonFormatter
from tests.support.api import NOTIFICATIONS, fields_of
from tests.support.factories import AttemptFactory, NotificationFactory, ago
from tests.support.rows import claim

DEAD = Status.DEAD_LETTERED


def retry(caller, row, body=None):
    return caller.post(f"{NOTIFICATIONS}/{getattr(row, 'pk', row)}/retry", body=body)


def retry_many(caller, **body):
    response = caller.post(f"{NOTIFICATIONS}/retry", body=body)
    assert response.status_code == 200, response.content
    return response.json()


def in_future(seconds=3600):
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


@pytest.mark.parametrize("status", sorted(queue.RETRYABLE))
def test_retry__undelivered__waits_again_with_all_its_attempts(operator, status):
    row = NotificationFactory(status=status, final_check=True, suspect=True, due_at=ago(7200))

    response = retry(operator, row, {"reason": "the relay is back"})

    answer = response.json()
    assert (response.status_code, answer["status"], answer["attemptCount"]) == (200, "PENDING", 0)
    assert (answer["operatorRetryCount"], answer["finishedAt"]) == (1, None)
    stored = Notification.objects.get()
    assert (stored.suspect, stored.final_check, stored.waiting_reason) == (False, False, "")
    assert stored.due_at > ago(60)
    assert allowed(status, Status.PENDING, by="operator retry")


def test_retry__done__is_shown_with_who_when_why_and_from_where(operator):
    row = NotificationFactory(status=DEAD)
    retry(operator, row, {"reason": "the relay is back"})

    [action] = operator.get(f"{NOTIFICATIONS}/{row.pk}").json()["operatorActions"]

    assert action.pop("createdAt").endswith("Z")
    assert action == {
        "action": "RETRY",
        "actor": {"kind": "API_KEY", "name": operator.key.prefix},
        "reason": "the relay is back",
        "statusBefore": "DEAD_LETTERED",
        "details": {},
    }


def test_retry__failed_again_and_retried_again__counts_cycles_and_keeps_the_history(operator):
    row = NotificationFactory(status=DEAD)
    AttemptFactory(notification=row, outcome="TEMPORARY", number=6)
    retry(operator, row)
    [held] = claim()
    assert (held.cycle, held.standing.attempt_number) == (2, 1)
    Notification.objects.update(
        status=DEAD, claim_token=None, worker_id="", lease_expires_at=None, finished_at=ago(0), attempt_count=6
    )
    AttemptFactory(notification=row, outcome="TEMPORARY", cycle=2)

    response = retry(operator, row)

    assert (response.status_code, response.json()["operatorRetryCount"]) == (200, 2)
    shown = operator.get(f"{NOTIFICATIONS}/{row.pk}").json()
    assert [(a["cycle"], a["number"]) for a in shown["attempts"]] == [(1, 6), (2, 1)]
    assert len(shown["operatorActions"]) == 2


@pytest.mark.parametrize("status", sorted((FINAL | {Status.PENDING, Status.PROCESSING}) - set(queue.RETRYABLE)))
def test_retry__in_another_state__is_409_and_changes_nothing(operator, status):
    row = NotificationFactory(status=status)

    response = retry(operator, row)

    assert (response.status_code, response.json()["type"]) == (409, "urn:notifyq:problem:too-late")
    assert Notification.objects.get().status == status
    assert not OperatorAction.objects.exists()


def test_retry__second_tab__is_409_and_leaves_one_effect(operator):
    row = NotificationFactory(status=DEAD)

    assert [retry(operator, row).status_code for _ in range(2)] == [200, 409]

    assert Notification.objects.get().operator_retry_count == 1
    assert OperatorAction.objects.count() == 1


def test_retry__past_its_time_to_live__needs_a_new_one(operator):
    row = NotificationFactory(status=DEAD, expires_at=ago(1))

    refused = retry(operator, row)

    assert (refused.status_code, refused.json()["type"]) == (409, "urn:notifyq:problem:past-expiry")
    assert fields_of(refused) == ["expiresAt"]
    later = in_future()
    assert retry(operator, row, {"expiresAt": later}).status_code == 200
    assert Notification.objects.get().expires_at == datetime.fromisoformat(later)
    assert OperatorAction.objects.get().details == {"expiresAt": later}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
        ({"expiresAt": "soon"}, "expiresAt"),
        ({"reason": "x" * 501}, "reason"),
        ({"reason": 5}, "reason"),
        ({"expires_at": None}, "expires_at"),
    ],
)
def test_retry__bad_field__is_named_and_nothing_changes(operator, body, field):
    row = NotificationFactory(status=DEAD)

    response = retry(operator, row, body)

    assert (response.status_code, fields_of(response)) == (400, [field])
    assert Notification.objects.get().status == DEAD


def test_retry__client_without_the_scope__is_403(caller):
    row = NotificationFactory(client=caller.client, status=DEAD)

    assert retry(caller, row).status_code == 403
    assert caller.post(f"{NOTIFICATIONS}/retry", body={}).status_code == 403
    assert Notification.objects.get().status == DEAD


def test_retry__unknown__is_404(operator):
    assert retry(operator, uuid4()).status_code == 404


def test_retry__form_that_says_something__is_415(operator):
    row = NotificationFactory(status=DEAD)

    path = f"{NOTIFICATIONS}/{row.pk}/retry"
    assert operator.request("POST", path, data="reason=x", content_type="application/x-www-form-urlencoded").status_code
    assert operator._http.post(path, {"reason": "x"}).status_code == 415
    assert operator._http.post(path).status_code in (200, 409)


def test_retry__may_have_been_sent__stays_with_its_provider(operator):
    row = NotificationFactory(
        status=DEAD, last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox", on_unconfirmed="HOLD"
    )

    assert retry(operator, row).status_code == 200

    stored = Notification.objects.get()
    assert stored.unconfirmed_provider == "sandbox"
    assert stored.unconfirmed_at is not None


def test_retry__log__has_one_line_without_anything_private(operator, caplog):
    row = NotificationFactory(status=DEAD)
    caplog.set_level(logging.INFO)

    retry(operator, row, {"reason": "Ada called"})

    [line] = [json.loads(JsonFormatter().format(r)) for r in caplog.records if r.getMessage() == "operator_acted"]
    assert (line["action"], line["actor"], line["notification_id"]) == ("RETRY", operator.key.prefix, str(row.pk))
    assert "Ada" not in caplog.text + json.dumps(line)


def test_record__once_written__cannot_be_changed_or_taken_away(operator):
    row = NotificationFactory(status=DEAD)
    retry(operator, row)

    with pytest.raises(DatabaseError, match="not rewritten"), transaction.atomic():
        OperatorAction.objects.update(reason="another")
    with pytest.raises(DatabaseError, match="only with its notification"), transaction.atomic():
        delete_for_good(OperatorAction.objects.all())
    delete_for_good(Notification.objects.all())


def delete_for_good(rows):
    """As a commit would find it."""
    rows.delete()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def test_retry_many__more_than_the_limit__takes_the_longest_finished_first(operator):
    rows = [NotificationFactory(status=DEAD, finished_at=ago(seconds)) for seconds in (10, 30, 20)]
    NotificationFactory(status=Status.FAILED)

    answer = retry_many(operator, limit=2, reason="the relay is back")

    assert {k: answer[k] for k in ("retried", "skippedExpired", "remaining")} == {
        "retried": 2,
        "skippedExpired": 0,
        "remaining": 1,
    }
    assert Notification.objects.get(status=DEAD) == rows[0]
    assert set(OperatorAction.objects.values_list("reason", "status_before")) == {("the relay is back", DEAD)}
    assert OperatorAction.objects.count() == 2


def test_retry_many__more_than_a_batch__takes_them_all(operator):
    client = NotificationFactory(status=DEAD).client
    NotificationFactory.create_batch(450, status=DEAD, client=client)

    assert retry_many(operator)["retried"] == 451


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {"mail", "sms"}),
        ({"status": "FAILED"}, {"failed"}),
        ({"channel": "SMS"}, {"sms"}),
        ({"provider": "smtp"}, {"mail"}),
        ({"errorCode": "timeout"}, {"sms"}),
        ({"errorCode": "UNCONFIRMED"}, {"held"}),
        ({"errorCode": "nope"}, set()),
    ],
)
def test_retry_many__each_filter__takes_those(operator, wanted, found):
    made = {
        "mail": NotificationFactory(status=DEAD, last_used_provider="smtp"),
        "sms": NotificationFactory(status=DEAD, channel="SMS", last_error_code="timeout"),
        "failed": NotificationFactory(status=Status.FAILED),
        "held": NotificationFactory(status=DEAD, last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox"),
        "sent": NotificationFactory(status=Status.SENT),
    }

    dry = retry_many(operator, dryRun=True, **wanted)
    assert not OperatorAction.objects.exists()
    answer = retry_many(operator, **wanted)

    assert answer["retried"] == dry["retried"] == len(found)
    assert {name for name, row in made.items() if row.operator_actions.exists()} == found


def test_retry_many__window__is_inclusive_and_exclusive(operator):
    times = [ago(seconds) for seconds in (30, 20, 10)]
    rows = [NotificationFactory(status=DEAD, finished_at=t) for t in times]

    retry_many(operator, finishedAfter=times[0].isoformat(), finishedBefore=times[2].isoformat())

    assert list(Notification.objects.filter(status=DEAD)) == [rows[2]]


def test_retry_many__past_their_time_to_live__are_counted_and_left(operator):
    NotificationFactory(status=DEAD, expires_at=ago(1))
    NotificationFactory(status=DEAD)

    assert retry_many(operator)["skippedExpired"] == 1
    assert Notification.objects.filter(status=DEAD).count() == 1


def test_retry_many__what_fails_again__is_left_out_by_the_cutoff(operator):
    NotificationFactory.create_batch(3, status=DEAD)
    first = retry_many(operator, limit=2)
    Notification.objects.filter(status=Status.PENDING).update(status=DEAD, finished_at=datetime.now(UTC))

    second = retry_many(operator, finishedBefore=first["cutoff"])
    third = retry_many(operator, finishedBefore=second["cutoff"])

    assert (first["remaining"], second["retried"], second["remaining"], third["retried"]) == (1, 1, 0, 0)
    assert second["cutoff"] == first["cutoff"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"limit": 0}, ["limit"]),
        ({"limit": 1001}, ["limit"]),
        ({"status": "SENT", "channel": "FAX"}, ["status", "channel"]),
        ({"dryRun": "yes"}, ["dryRun"]),
        ({"finishedBefore": "2030-01-01T00:00:00"}, ["finishedBefore"]),
        ({"ids": []}, ["ids"]),
    ],
)
def test_retry_many__bad_field__is_named_and_nothing_changes(operator, body, fields):
    NotificationFactory(status=DEAD)

    response = operator.post(f"{NOTIFICATIONS}/retry", body=body)

    assert (response.status_code, fields_of(response)) == (400, fields)
    assert Notification.objects.get().status == DEAD


PLAN_ROWS = """
INSERT INTO notifications_notification
       (id, status, client_id, idempotency_key, fingerprint, channel, recipient, priority, send_at, max_attempts,
        on_unconfirmed, finished_at)
SELECT gen_random_uuid(), CASE WHEN g %% 20 = 0 THEN 'DEAD_LETTERED' ELSE 'SENT' END, %s, g::text, 'f', 'EMAIL', 'a',
       1, now(), 6, 'RETRY', now() - g * interval '1 s'
  FROM generate_series(1, 20000) AS g
"""


def test_retry_many__big_table__reads_its_index_in_order_without_sorting(operator):
    with connection.cursor() as cursor:
        cursor.execute(PLAN_ROWS, [operator.client.pk])
        cursor.execute("ANALYZE notifications_notification")

    rows = queue.retryable(queue.Selection(finished_before=datetime.now(UTC)))
    plan = rows.select_for_update(skip_locked=True, no_key=True)[:200].explain()

    assert "notification_undelivered" in plan
    assert "Sort" not in plan
    assert "Seq Scan" not in plan
