"""POST /api/v1/notifications/batch"""

import io
import json
from importlib import import_module
from time import perf_counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.models import Content, Notification
from notifications.services import submit
from notifyq.wsgi import application
from tests.support.api import NOTIFICATIONS, Caller, email, fields_of, sms

BATCH = f"{NOTIFICATIONS}/batch"


def send(caller, items, **headers):
    return caller.post(BATCH, body={"notifications": items}, **headers)


def totals(answer):
    return answer["created"], answer["replayed"], answer["rejected"]


def many(count):
    return [email(idempotencyKey=f"key-{n}", recipient=f"person{n}@example.com") for n in range(count)]


def test_batch__valid__answers_in_order_and_stores_each(caller):
    answer = send(caller, [email(idempotencyKey="a"), sms(idempotencyKey="b")]).json()

    assert totals(answer) == (2, 0, 0)
    assert [(r["index"], r["status"], r["notification"]["channel"]) for r in answer["results"]] == [
        (0, 201, "EMAIL"),
        (1, 201, "SMS"),
    ]
    stored = Notification.objects.order_by("id")
    assert [str(row.pk) for row in stored] == [r["notification"]["id"] for r in answer["results"]]
    assert {row.client for row in stored} == {caller.client}
    assert Content.objects.count() == 2


def test_batch__bad_items__refuse_only_themselves(caller):
    bad = [
        email(idempotencyKey="1", recipient="nobody"),
        email(idempotencyKey=None),
        email(idempotencyKey="2", colour="red"),
        email(idempotencyKey="3", body="a\x00b"),
        email(idempotencyKey="4", targets=[]),
        email(idempotencyKey="5", expiresAt="2020-01-01T00:00:00Z"),
        "not an object",
    ]

    answer = send(caller, [email(idempotencyKey="first"), *bad, email(idempotencyKey="last")]).json()

    assert totals(answer) == (2, 0, 7)
    assert [r["status"] for r in answer["results"]] == [201, *[400] * 7, 201]
    named = [[e["field"] for e in r["problem"]["errors"]] for r in answer["results"][1:-1]]
    assert named == [
        ["recipient"],
        ["idempotencyKey"],
        ["colour"],
        ["body"],
        ["targets"],
        ["expiresAt"],
        ["notifications[7]"],
    ]
    assert answer["results"][1]["problem"]["type"] == "urn:notifyq:problem:invalid-request"
    assert Notification.objects.count() == 2


@pytest.mark.parametrize("raw", [rb'"a\ud800b"', b"NaN", b"1e999"])
def test_batch__item_with_a_value_that_cannot_be_stored__refuses_only_itself(caller, raw):
    bad, good = (json.dumps(email(idempotencyKey=k)).encode() for k in "ab")
    bad = bad.replace(b'"It works."', raw)

    answer = caller.post(BATCH, body=b'{"notifications": [%s, %s]}' % (bad, good)).json()

    assert [r["status"] for r in answer["results"]] == [400, 201]


def test_batch__sent_twice__creates_nothing_new(caller):
    first = send(caller, many(5)).json()

    again = send(caller, many(5)).json()

    assert totals(again) == (0, 5, 0)
    assert [r["notification"] for r in again["results"]] == [r["notification"] for r in first["results"]]
    assert {r["status"] for r in again["results"]} == {200}
    assert Notification.objects.count() == Content.objects.count() == 5


def test_batch__keys_used_before__are_repeats_or_conflicts(caller):
    submit(client=caller.client, idempotency_key="a", channel="SMS", recipient="+14155550100", body="It works.")

    items = [sms(idempotencyKey="a"), sms(idempotencyKey="a", body="other"), sms(idempotencyKey="b")]
    answer = send(caller, items).json()

    assert [r["status"] for r in answer["results"]] == [200, 409, 201]
    assert answer["results"][1]["problem"]["type"] == "urn:notifyq:problem:idempotency-conflict"
    assert totals(answer) == (1, 1, 1)


def test_batch__one_key_several_times__first_wins(caller):
    passed = {"expiresAt": "2020-01-01T00:00:00Z"}
    items = [sms(**passed), sms(), sms(), sms(body="other"), sms(**passed)]

    answer = send(caller, items).json()

    assert [r["status"] for r in answer["results"]] == [400, 201, 200, 409, 409]
    assert answer["results"][1]["notification"] == answer["results"][2]["notification"]
    assert Notification.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["notifications"]),
        ({"notifications": []}, ["notifications"]),
        ({"notifications": {}}, ["notifications"]),
        ({"notifications": [{}] * 1001}, ["notifications"]),
        ({"notifications": [{}], "key": 1}, ["key"]),
    ],
)
def test_batch__no_list_of_notifications__is_400(caller, body, fields):
    response = caller.post(BATCH, body=body)

    assert (response.status_code, fields_of(response)) == (400, fields)


def test_batch__key_in_the_header__is_refused(caller):
    response = send(caller, many(1), Idempotency_Key="a")

    assert (response.status_code, fields_of(response)) == (400, ["idempotencyKey"])
    assert not Notification.objects.exists()


def test_batch__crash_in_the_middle__leaves_nothing(caller, monkeypatch):
    # By module, since the package gives the name to the function.
    monkeypatch.setattr(import_module("notifications.queue.insert"), "ring_after_commit", lambda: 1 / 0)

    assert send(caller, many(3)).status_code == 500
    assert not Notification.objects.exists()


def test_batch__thousand__takes_few_statements_and_little_time(caller):
    send(caller, [email(idempotencyKey="warm up")])
    with CaptureQueriesContext(connection) as queries:
        started = perf_counter()
        answer = send(caller, many(1000)).json()
        seconds = perf_counter() - started

    assert totals(answer) == (1000, 0, 0)
    assert len(queries) <= 15
    assert seconds < 10  # well under 2 s on an idle machine


def test_batch__longer_than_one_mebibyte__is_accepted_up_to_sixteen(caller):
    items = [email(idempotencyKey=str(n), htmlBody="x" * 250_000) for n in range(10)]

    assert send(caller, items).json()["created"] == 10
    too_long = send(caller, [email(idempotencyKey=str(n), htmlBody="x" * 262_000) for n in range(66)])
    assert too_long.status_code == 413
    assert caller.post(body=email(htmlBody="x" * (1 << 20))).status_code == 413


@pytest.mark.parametrize(("path", "status"), [(BATCH, "200"), (NOTIFICATIONS, "413")])
def test_batch__chunked_body_of_two_mebibytes__is_read_by_the_bound_of_the_address(caller, settings, path, status):
    settings.ALLOWED_HOSTS = ["*"]
    items = [email(idempotencyKey=str(n), htmlBody="x" * 250_000) for n in range(8)]
    raw = json.dumps({"notifications": items}).encode()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "SERVER_NAME": "x",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": "application/json",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "HTTP_AUTHORIZATION": f"Bearer {caller.key.secret}",
        "wsgi.input": io.BytesIO(raw),
        "wsgi.input_terminated": True,
        "wsgi.url_scheme": "http",
        "wsgi.errors": io.StringIO(),
    }
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections

    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        answered = []
        application(environ, lambda line, headers: answered.append(line))
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)

    assert answered[0].startswith(status)


def test_batch__reader__is_403(db):
    assert send(Caller(scopes=("read",)), many(1)).status_code == 403
