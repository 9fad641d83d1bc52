"""The examples of the OpenAPI document against the service: what is asked as documented is answered as documented."""

from dataclasses import replace

import pytest
from django.conf import settings
from django.db import OperationalError
from drf_spectacular.generators import SchemaGenerator

from notifications import selectors
from notifications.status import Status
from notifyq.rest.problem import MEDIA_TYPE
from tests.support.api import NOTIFICATIONS, Caller, email
from tests.support.factories import NotificationFactory, ago

PATHS = SchemaGenerator().get_schema(request=None, public=True)["paths"]
COLLECTION = PATHS["/api/v1/notifications"]
ONE = "/api/v1/notifications/{notification_id}"
CHANGING = ("id", "groupId", "sendAt", "dueAt", "createdAt", "updatedAt")


@pytest.fixture
def caller(db):
    return Caller()


@pytest.fixture
def operator(db):
    return Caller(scopes=("operate",))


def examples(operation, status, media_type="application/json"):
    return [e["value"] for e in operation["responses"][str(status)]["content"][media_type]["examples"].values()]


def request_example(title):
    bodies = COLLECTION["post"]["requestBody"]["content"]["application/json"]["examples"].values()
    return next(body["value"] for body in bodies if body["value"]["idempotencyKey"] == title)


def lasting(answer):
    return {name: value for name, value in answer.items() if name not in CHANGING}


def test_created__first_documented_request__is_answered_as_documented(caller):
    answer = caller.post(body=request_example("order-1234-shipped"))

    assert answer.status_code == 201
    assert lasting(answer.json()) == lasting(examples(COLLECTION["post"], 201)[0])


def test_created__documented_request_with_targets__is_answered_as_documented(caller):
    answer = caller.post(body=request_example("order-1234-both"))

    documented = examples(COLLECTION["post"], 201)[1]
    assert answer.status_code == 201
    assert [lasting(n) for n in answer.json()["notifications"]] == [lasting(n) for n in documented["notifications"]]


@pytest.mark.parametrize("act", ["cancel", "reschedule"])
def test_act__documented_request__is_answered_as_documented(caller, act):
    made = caller.post(body=request_example("order-1234-shipped")).json()
    body = {"reschedule": {"delaySeconds": 60}}.get(act, {})

    answer = caller.post(f"{NOTIFICATIONS}/{made['id']}/{act}", body=body)

    [documented] = examples(PATHS[f"{ONE}/{act}"]["post"], 200)
    changing = {"finishedAt"}
    assert {n: v for n, v in lasting(answer.json()).items() if n not in changing} == {
        n: v for n, v in lasting(documented).items() if n not in changing
    }


def database_away(*_):
    raise OperationalError("away")


def waiting(caller, **columns):
    return NotificationFactory(client=caller.client, **columns).pk


def missing_subject(caller, operator, monkeypatch):
    return COLLECTION["post"], caller.post(body=email(subject=None))


def malformed(caller, operator, monkeypatch):
    return COLLECTION["post"], caller.post(body=b'{"channel": "EMAIL",}')


def unknown_parameter(caller, operator, monkeypatch):
    return COLLECTION["get"], caller.get(query={"colour": "red"})


def unknown_field(caller, operator, monkeypatch):
    path = f"{NOTIFICATIONS}/{waiting(caller)}/cancel"
    return PATHS[f"{ONE}/cancel"]["post"], caller.post(path, body={"colour": "red"})


def no_key(caller, operator, monkeypatch):
    return COLLECTION["get"], caller.get(Authorization="")


def no_scope(caller, operator, monkeypatch):
    return PATHS["/api/v1/pauses"]["get"], caller.get("/api/v1/pauses")


def nothing_there(caller, operator, monkeypatch):
    return PATHS[ONE]["get"], caller.get(f"{NOTIFICATIONS}/01a22cbf-5d05-7797-8b38-3cc29ff8d9c8")


def not_acceptable(caller, operator, monkeypatch):
    return COLLECTION["get"], caller.get(Accept="text/csv")


def key_used_before(caller, operator, monkeypatch):
    caller.post(body=email())
    return COLLECTION["post"], caller.post(body=email(subject="Another"))


def too_long(caller, operator, monkeypatch):
    return COLLECTION["post"], caller.post(body=email(htmlBody="x" * (1 << 20)))


def not_json(caller, operator, monkeypatch):
    authorization = f"Bearer {caller.key.secret}"
    sent = {"data": "x", "content_type": "text/plain", "headers": {"Authorization": authorization}}
    return COLLECTION["post"], caller.request("POST", NOTIFICATIONS, **sent)


def too_many(caller, operator, monkeypatch):
    monkeypatch.setattr(settings, "NOTIFYQ", replace(settings.NOTIFYQ, requests_per_key_per_minute=1))
    caller.get()
    return COLLECTION["get"], caller.get()


def fault(caller, operator, monkeypatch):
    monkeypatch.setattr(selectors, "listed", lambda *_: 1 / 0)
    return COLLECTION["get"], caller.get()


def away(caller, operator, monkeypatch):
    monkeypatch.setattr(selectors, "listed", database_away)
    return COLLECTION["get"], caller.get()


def cancelled_too_late(caller, operator, monkeypatch):
    path = f"{NOTIFICATIONS}/{waiting(caller, status=Status.SENT)}/cancel"
    return PATHS[f"{ONE}/cancel"]["post"], caller.post(path)


def cancelled_while_open(caller, operator, monkeypatch):
    path = f"{NOTIFICATIONS}/{waiting(caller, unconfirmed_provider='smtp', unconfirmed_at=ago(5))}/cancel"
    return PATHS[f"{ONE}/cancel"]["post"], caller.post(path)


def rescheduled_past_expiry(caller, operator, monkeypatch):
    path = f"{NOTIFICATIONS}/{waiting(caller, expires_at=ago(-60))}/reschedule"
    body = {"sendAt": ago(-600).isoformat()}
    return PATHS[f"{ONE}/reschedule"]["post"], caller.post(path, body=body)


def retried_past_expiry(caller, operator, monkeypatch):
    path = f"{NOTIFICATIONS}/{waiting(caller, status=Status.DEAD_LETTERED, expires_at=ago(60))}/retry"
    return PATHS[f"{ONE}/retry"]["post"], operator.post(path)


SITUATIONS = [
    missing_subject,
    malformed,
    unknown_parameter,
    unknown_field,
    no_key,
    no_scope,
    nothing_there,
    not_acceptable,
    key_used_before,
    too_long,
    not_json,
    too_many,
    fault,
    away,
    cancelled_too_late,
    cancelled_while_open,
    rescheduled_past_expiry,
    retried_past_expiry,
]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_problem__met__is_one_of_the_documented_examples(situation, caller, operator, monkeypatch):
    operation, answer = situation(caller, operator, monkeypatch)

    assert answer.json() in examples(operation, answer.status_code, MEDIA_TYPE)


@pytest.mark.parametrize(
    ("path", "method"), [(path, method) for path, by_method in PATHS.items() for method in by_method]
)
def test_problem__every_operation__shows_whole_examples(path, method):
    for status, response in PATHS[path][method]["responses"].items():
        if MEDIA_TYPE in response.get("content", {}):
            shown = examples(PATHS[path][method], status, MEDIA_TYPE)
            assert {document["status"] for document in shown} == {int(status)}
            assert all(document["title"] and document["detail"] for document in shown)
