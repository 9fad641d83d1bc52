"""GET /api/v1/notifications/{id}"""

from uuid import uuid4

import pytest

from notifications.status import Status
from notifications.verdict import Outcome
from tests.support.api import NOTIFICATIONS, email, fields_of, push
from tests.support.factories import AttemptFactory, NotificationFactory


def test_read__own__shows_content_and_history(caller):
    row = NotificationFactory(client=caller.client, status=Status.SENT)
    AttemptFactory(notification=row, outcome=Outcome.TEMPORARY)
    AttemptFactory(notification=row, number=2)

    answer = caller.get(f"{NOTIFICATIONS}/{row.pk}").json()

    assert (answer["status"], answer["provider"], answer["body"]) == ("SENT", "sandbox", "A body")
    assert [(a["number"], a["outcome"], a["errorCode"]) for a in answer["attempts"]] == [
        (1, "TEMPORARY", "a_reason"),
        (2, "ACCEPTED", None),
    ]
    assert list(answer["attempts"][0]) == [
        "cycle", "number", "hop", "provider", "outcome", "errorCode", "errorMessage", "providerMessageId", "startedAt",
        "finishedAt",
    ]  # fmt: skip
    assert (answer["webhookEvents"], answer["operatorActions"]) == ([], [])


@pytest.mark.parametrize(
    "sent",
    [
        email(htmlBody="<p>", fromName="Ada", replyTo="b@example.com", onUnconfirmed="HOLD"),
        push(data={"a": "b"}, collapseKey="c"),
    ],
)
def test_read__own__shows_every_field_that_was_sent(caller, sent):
    created = caller.post(body=sent).json()

    answer = caller.get(f"{NOTIFICATIONS}/{created['id']}").json()

    assert {k: answer[k] for k in sent if k != "idempotencyKey"} == {
        k: v for k, v in sent.items() if k != "idempotencyKey"
    }


def test_read__failed__shows_the_last_error(caller):
    row = NotificationFactory(client=caller.client, status=Status.FAILED)

    answer = caller.get(f"{NOTIFICATIONS}/{row.pk}").json()

    assert answer["lastError"] == {"code": "a_reason", "message": "It was refused"}


@pytest.mark.parametrize("status", list(Status))
def test_read__any_status__is_shown(caller, status):
    row = NotificationFactory(client=caller.client, status=status)

    assert caller.get(f"{NOTIFICATIONS}/{row.pk}").json()["status"] == status


@pytest.mark.parametrize("unknown", [uuid4(), "5", "x" * 300, "%00"])
def test_read__unknown__answers_404(caller, unknown):
    response = caller.get(f"{NOTIFICATIONS}/{unknown}")

    assert response.status_code == 404
    assert fields_of(response) == []


def test_read__another_clients__answers_404_like_an_unknown_one(caller):
    other = caller.get(f"{NOTIFICATIONS}/{NotificationFactory().pk}")

    assert other.status_code == 404
    assert other.json() == caller.get(f"{NOTIFICATIONS}/{uuid4()}").json()


def test_read__operator__sees_anybodys(operator):
    assert operator.get(f"{NOTIFICATIONS}/{NotificationFactory().pk}").status_code == 200


def test_read__unknown_parameter__is_named(caller):
    row = NotificationFactory(client=caller.client)

    assert fields_of(caller.get(f"{NOTIFICATIONS}/{row.pk}?expand=all")) == ["expand"]
