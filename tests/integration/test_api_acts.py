"""Resolve, reschedule, cancel together, and what is recorded when an operator does it."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from notifications import queue
from notifications.models import Notification, OperatorAction
from notifications.status import FINAL, Status, allowed
from ratelimits.models import Gate, Slot
from tests.support.api import NOTIFICATIONS, Caller, fields_of
from tests.support.factories import NotificationFactory, ago

HELD = {"status": Status.DEAD_LETTERED, "last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}


@pytest.fixture
def announced(monkeypatch):
    """The ids of what reached a final state, as they were told to listeners."""
    ids: list = []
    monkeypatch.setattr("notifications.queue.outcomes._listeners", [ids.extend])
    return ids


def act(caller, row, what, **body):
    return caller.post(f"{NOTIFICATIONS}/{getattr(row, 'pk', row)}/{what}", body=body)


def later(seconds=3600):
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


@pytest.mark.parametrize(
    ("outcome", "provider", "error"),
    [
        ("SENT", "sandbox", None),
        (
            "FAILED",
            None,
            {"code": "not_delivered", "message": "an operator found that it was not delivered"},
        ),
    ],
)
def test_resolve__held__gets_the_outcome(operator, announced, outcome, provider, error):
    row = NotificationFactory(**HELD)

    answer = act(operator, row, "resolve", outcome=outcome, reason="asked the provider").json()

    assert (answer["status"], answer["provider"], answer["lastError"]) == (outcome, provider, error)
    assert announced == [row.pk]
    stored = Notification.objects.get()
    assert (stored.unconfirmed_provider, stored.unconfirmed_at, stored.outcome_sequence) == ("", None, 1)
    record = OperatorAction.objects.get()
    assert (record.action, record.reason, record.details) == ("RESOLVE", "asked the provider", {"outcome": outcome})
    assert allowed(Status.DEAD_LETTERED, Status(outcome), by="resolve")


def test_resolve__as_failed__can_be_retried_with_any_provider(operator):
    row = NotificationFactory(**HELD)
    act(operator, row, "resolve", outcome="FAILED", reason="x")

    assert act(operator, row, "retry").status_code == 200
    assert Notification.objects.get().unconfirmed_provider == ""


@pytest.mark.parametrize("columns", [{"status": s} for s in sorted(Status)])
def test_resolve__not_held__is_409_and_changes_nothing(operator, columns):
    row = NotificationFactory(**columns)

    assert act(operator, row, "resolve", outcome="SENT", reason="x").status_code == 409
    assert Notification.objects.get().status == columns["status"]
    assert not OperatorAction.objects.exists()


def test_resolve__twice__has_one_effect(operator):
    row = NotificationFactory(**HELD)

    codes = [act(operator, row, "resolve", outcome=o, reason="x").status_code for o in ("SENT", "FAILED")]

    assert codes == [200, 409]
    assert Notification.objects.get().status == Status.SENT


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["outcome", "reason"]),
        ({"outcome": "EXPIRED", "reason": "x"}, ["outcome"]),
        ({"outcome": "SENT", "reason": ""}, ["reason"]),
        ({"outcome": "SENT", "reason": "x", "sure": True}, ["sure"]),
    ],
)
def test_resolve__bad_field__is_named(operator, body, fields):
    response = act(operator, NotificationFactory(**HELD), "resolve", **body)

    assert (response.status_code, fields_of(response)) == (400, fields)


def test_resolve__not_an_operator_or_unknown__is_403_or_404(caller, operator):
    row = NotificationFactory(client=caller.client, **HELD)

    assert act(caller, row, "resolve", outcome="SENT", reason="x").status_code == 403
    assert act(operator, uuid4(), "resolve", outcome="SENT", reason="x").status_code == 404


def test_reschedule__waiting__gets_the_new_time(caller):
    row = NotificationFactory(client=caller.client, attempt_count=1, waiting_reason="RETRY_BACKOFF")
    when = later()

    answer = act(caller, row, "reschedule", sendAt=when).json()

    assert (answer["status"], answer["waitingReason"], answer["attemptCount"]) == ("PENDING", "SCHEDULED", 1)
    assert answer["dueAt"] == answer["sendAt"]
    assert datetime.fromisoformat(answer["sendAt"]) == datetime.fromisoformat(when)
    assert not OperatorAction.objects.exists()


@pytest.mark.parametrize("body", [{"delaySeconds": 0}, {"sendAt": "2020-01-01T00:00:00Z"}])
def test_reschedule__to_now__is_due_at_once(caller, body):
    row = NotificationFactory(client=caller.client, due_at=datetime.fromisoformat(later()))

    answer = act(caller, row, "reschedule", **body).json()

    assert answer["waitingReason"] is None
    assert ago(60) < datetime.fromisoformat(answer["dueAt"]) <= datetime.now(UTC) + timedelta(seconds=1)


def test_reschedule__parked_with_a_slot_or_without__leaves_the_rate_limit(caller):
    bucket = uuid4()
    row = NotificationFactory(client=caller.client, parked_by=bucket, waiting_reason="RATE_LIMITED")
    Slot.objects.create(bucket=bucket, holder_id=row.pk, slot_at=ago())
    Gate.objects.create(bucket=bucket, channel="EMAIL", release_at=later())

    assert act(caller, row, "reschedule", delaySeconds=60).json()["waitingReason"] == "SCHEDULED"

    assert Notification.objects.get().parked_by is None
    assert not Slot.objects.exists()
    assert Gate.objects.get().release_at <= datetime.now(UTC) + timedelta(seconds=1)


def test_reschedule__not_before_its_expiry__is_409_naming_the_field(caller):
    row = NotificationFactory(client=caller.client, expires_at=later(60))

    for body in ({"delaySeconds": 60.5}, {"sendAt": later(61)}):
        response = act(caller, row, "reschedule", **body)
        assert (response.status_code, response.json()["type"]) == (409, "urn:notifyq:problem:past-expiry")
        assert fields_of(response) == list(body)
    assert act(caller, row, "reschedule", delaySeconds=30).status_code == 200


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PENDING}))
def test_reschedule__no_longer_pending__is_409(caller, status):
    row = NotificationFactory(client=caller.client, status=status)

    assert act(caller, row, "reschedule", delaySeconds=1).status_code == 409
    assert Notification.objects.get().due_at == row.due_at


def test_reschedule__may_have_been_sent__is_409(caller):
    row = NotificationFactory(client=caller.client, unconfirmed_provider="sandbox")

    response = act(caller, row, "reschedule", delaySeconds=1)

    assert (response.status_code, response.json()["type"]) == (409, "urn:notifyq:problem:may-have-been-sent")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["sendAt", "delaySeconds"]),
        ({"sendAt": "2030-01-01T00:00:00Z", "delaySeconds": 1}, ["sendAt", "delaySeconds"]),
        ({"delaySeconds": -1}, ["delaySeconds"]),
        ({"delaySeconds": 367 * 86400}, ["delaySeconds"]),
        ({"sendAt": "2999-01-01T00:00:00Z"}, ["sendAt"]),
        ({"sendAt": "2030-01-01T00:00:00"}, ["sendAt"]),
        ({"delaySeconds": 1, "reason": "x"}, ["reason"]),
    ],
)
def test_reschedule__bad_field__is_named(caller, body, fields):
    response = act(caller, NotificationFactory(client=caller.client), "reschedule", **body)

    assert (response.status_code, fields_of(response)) == (400, fields)


def test_reschedule__another_clients__is_404_but_an_operator_may_and_is_recorded(caller, operator):
    row = NotificationFactory()

    assert act(caller, row, "reschedule", delaySeconds=1).status_code == 404
    assert act(operator, row, "reschedule", delaySeconds=1).status_code == 200
    assert OperatorAction.objects.get().action == "RESCHEDULE"


def test_cancel__by_an_operator__is_recorded_once(operator):
    row = NotificationFactory()

    assert [act(operator, row, "cancel").status_code for _ in range(2)] == [200, 200]

    assert OperatorAction.objects.values_list("action", "status_before").get() == ("CANCEL", "PENDING")


def test_cancel__by_its_client__is_no_operators_act(caller):
    act(caller, NotificationFactory(client=caller.client), "cancel")

    assert not OperatorAction.objects.exists()


def cancel_together(caller, **body):
    return caller.post(f"{NOTIFICATIONS}/cancel", body=body)


@pytest.mark.parametrize("by", ["groupId", "reference"])
def test_cancel_together__some_waiting__cancels_those_and_counts_the_others(caller, announced, by):
    group = uuid4()
    label = {"group_id": group} if by == "groupId" else {"reference": "order-1"}
    waiting = NotificationFactory.create_batch(2, client=caller.client, **label)
    NotificationFactory(client=caller.client, status=Status.CANCELLED, **label)
    for columns in [{"status": s} for s in (FINAL - {Status.CANCELLED}) | {Status.PROCESSING}]:
        NotificationFactory(client=caller.client, **label, **columns)
    NotificationFactory(client=caller.client, unconfirmed_provider="sandbox", **label)
    others = [NotificationFactory(client=caller.client), NotificationFactory(**label)]

    answers = [cancel_together(caller, **{by: str(group) if by == "groupId" else "order-1"}).json() for _ in range(2)]

    assert answers == [{"cancelled": 2, "tooLate": 6}, {"cancelled": 0, "tooLate": 6}]
    assert sorted(announced) == sorted(row.pk for row in waiting)
    assert [Notification.objects.get(pk=row.pk).status for row in others] == [Status.PENDING] * 2
    assert not OperatorAction.objects.exists()


def test_cancel_together__operator__cancels_anybodys_and_is_recorded(operator):
    group = uuid4()
    NotificationFactory.create_batch(2, group_id=group)

    assert cancel_together(operator, groupId=str(group)).json() == {"cancelled": 2, "tooLate": 0}
    assert OperatorAction.objects.count() == 2


def test_cancel_together__more_than_a_batch__cancels_them_all(caller, monkeypatch):
    monkeypatch.setitem(queue.cancel_together.__globals__, "BATCH", 3)  # the module's name is the function's too
    NotificationFactory.create_batch(7, client=caller.client, reference="r")

    assert cancel_together(caller, reference="r").json() == {"cancelled": 7, "tooLate": 0}


def test_cancel_together__parked_ones__give_up_their_slots(caller):
    bucket = uuid4()
    row = NotificationFactory(client=caller.client, reference="r", parked_by=bucket, waiting_reason="RATE_LIMITED")
    Slot.objects.create(bucket=bucket, holder_id=row.pk, slot_at=ago())

    cancel_together(caller, reference="r")

    assert not Slot.objects.exists()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["groupId", "reference"]),
        ({"groupId": None, "reference": ""}, ["groupId", "reference"]),
        ({"groupId": str(uuid4()), "reference": "r"}, ["groupId", "reference"]),
        ({"groupId": "r"}, ["groupId"]),
        ({"groupId": 5}, ["groupId"]),
        ({"reference": "r" * 256}, ["reference"]),
        ({"userId": "r"}, ["userId"]),
    ],
)
def test_cancel_together__not_exactly_one_label__is_400_and_cancels_nothing(caller, body, fields):
    NotificationFactory(client=caller.client)

    response = cancel_together(caller, **body)

    assert (response.status_code, fields_of(response)) == (400, fields)
    assert Notification.objects.get().status == Status.PENDING


def test_cancel_together__unknown__cancels_nothing(caller):
    assert cancel_together(caller, reference="nobody's").json() == {"cancelled": 0, "tooLate": 0}


def test_cancel_together__reader__is_403(db):
    assert cancel_together(Caller(scopes=("read",)), reference="r").status_code == 403
