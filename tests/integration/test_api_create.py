"""POST /api/v1/notifications"""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from notifications.api.read import read_request
from notifications.models import Content, Notification
from notifications.request import check, fingerprint
from notifications.services.submit import channel_defaults
from notifications.status import Status
from tests.support.api import NOTIFICATIONS, Caller, email, fields_of, push, sms
from tests.support.factories import NotificationFactory

ANSWER = [
    "id", "groupId", "status", "waitingReason", "channel", "recipient", "subject", "priority", "sendAt", "dueAt",
    "expiresAt", "attemptCount", "maxAttempts", "provider", "lastUsedProvider", "providerMessageId", "reconciledAt",
    "deliveryStatus", "lastError", "operatorRetryCount", "userId", "reference", "metadata", "createdAt", "updatedAt",
    "finishedAt",
]  # fmt: skip


def test_create__valid__answers_201_with_the_stored_notification(caller):
    response = caller.post(body=email(recipient="ada@EXAMPLE.com", priority="HIGH", reference="order-1"))

    answer = response.json()
    assert response.status_code == 201
    assert list(answer) == ANSWER
    assert response["Location"] == f"http://testserver{NOTIFICATIONS}/{answer['id']}"
    row = Notification.objects.get()
    assert (str(row.pk), row.client, row.status) == (answer["id"], caller.client, Status.PENDING)
    assert (answer["recipient"], answer["priority"], answer["reference"]) == ("ada@example.com", "HIGH", "order-1")
    assert (answer["status"], answer["waitingReason"], answer["userId"]) == ("PENDING", None, None)
    assert answer["dueAt"] == answer["sendAt"] == answer["createdAt"]
    assert answer["createdAt"].endswith("Z")


@pytest.mark.parametrize("body", [email(), sms(), push(data={"a": "b"}, collapseKey="c")])
def test_create__each_channel__is_stored_with_its_content(caller, body):
    assert caller.post(body=body).status_code == 201

    content = Content.objects.get()
    assert (content.body, content.data) == (body["body"], body.get("data", {}))


def test_create__answer__equals_what_is_read_afterwards(caller):
    created = caller.post(body=email(delaySeconds=60, ttlSeconds=30, metadata={"a": "b"})).json()

    read = caller.get(f"{NOTIFICATIONS}/{created['id']}").json()
    assert {name: read[name] for name in ANSWER} == created


def test_create__delay_and_ttl__count_from_the_database_clock(caller):
    answer = caller.post(body=email(delaySeconds=60, ttlSeconds=30)).json()

    created, send, expires = (datetime.fromisoformat(answer[k]) for k in ("createdAt", "sendAt", "expiresAt"))
    assert (send - created, expires - send) == (timedelta(seconds=60), timedelta(seconds=30))
    assert answer["waitingReason"] == "SCHEDULED"


def test_create__repeat__answers_200_with_the_same_notification(caller):
    first = caller.post(body=email()).json()

    again = caller.post(body=email(recipient="ada@EXAMPLE.COM", priority="NORMAL"))

    assert (again.status_code, again.json()) == (200, first)
    assert again["Idempotency-Replayed"] == "true"
    assert "Location" not in again
    assert Notification.objects.count() == 1


def test_create__repeat_after_it_changed__shows_the_present_state(caller):
    first = caller.post(body=email(delaySeconds=60)).json()
    caller.post(f"{NOTIFICATIONS}/{first['id']}/cancel")

    assert caller.post(body=email(delaySeconds=60)).json()["status"] == "CANCELLED"


def test_create__repeat_after_its_times_have_passed__still_answers_200(caller):
    passed = email(expiresAt="2020-01-01T00:00:00Z")
    then = check(read_request(passed, None), now=datetime(2019, 1, 1, tzinfo=UTC), defaults=channel_defaults())
    NotificationFactory(
        client=caller.client,
        idempotency_key="key-1",
        fingerprint=fingerprint(then.request),
        status=Status.EXPIRED,
    )

    response = caller.post(body=passed)

    assert (response.status_code, response.json()["status"]) == (200, "EXPIRED")
    assert caller.post(body=passed | {"body": "Something else."}).status_code == 409
    assert fields_of(caller.post(body=passed | {"idempotencyKey": "new"})) == ["expiresAt"]


def test_create__same_key_other_details__answers_409_and_changes_nothing(caller):
    caller.post(body=email())

    response = caller.post(body=email(body="Something else."))

    assert response.status_code == 409
    assert response.json()["type"].endswith(":idempotency-conflict")
    assert fields_of(response) == ["idempotencyKey"]
    assert Content.objects.get().body == "It works."


def test_create__same_key_of_another_client__is_another_key(caller):
    assert caller.post(body=email()).status_code == 201
    assert Caller().post(body=email(body="Something else.")).status_code == 201


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("abc", "abc"),
        ('"abc"', "abc"),
        (r'"a\"b\\c"', r'a"b\c'),
        ('"', '"'),
        ("schlüssel".encode().decode("latin-1"), "schlüssel"),
    ],
)
def test_create__key_in_the_header__is_the_same_as_in_the_body(caller, header, key):
    body = email(idempotencyKey=None)

    assert caller.post(body=body, Idempotency_Key=header).status_code == 201
    assert Notification.objects.get().idempotency_key == key
    assert caller.post(body=email(idempotencyKey=key)).status_code == 200
    assert caller.post(body=email(idempotencyKey=key), Idempotency_Key=header).status_code == 200


@pytest.mark.parametrize(
    ("header", "body_key"),
    [("a", "b"), ("", None), ("x" * 256, None), ("a", 5), ('""', None)],
)
def test_create__bad_header_key__names_the_key(caller, header, body_key):
    response = caller.post(body=email(idempotencyKey=body_key), Idempotency_Key=header)

    assert response.status_code == 400
    assert set(fields_of(response)) == {"idempotencyKey"}


def test_create__no_key__names_the_key(caller):
    assert fields_of(caller.post(body=email(idempotencyKey=None))) == ["idempotencyKey"]


def test_create__unknown_and_wrong_fields__are_all_named(caller):
    response = caller.post(body=email(send_at="x", htmlbody="<p>", sendAt="2030-01-01T00:00:00", priority=1))

    assert response.status_code == 400
    assert fields_of(response) == ["send_at", "htmlbody", "sendAt", "priority"]
    assert not Notification.objects.exists()


def test_create__thousands_of_unknown_fields__answer_stays_small(caller):
    response = caller.post(body={f"field{i}" * 50: 1 for i in range(2000)})

    assert response.status_code == 400
    assert len(response.content) < 20_000


@pytest.mark.parametrize("recipient", ["nobody-9f3", "x9f3@@example.com"])
def test_create__bad_recipient__is_not_repeated_in_answer_or_log(caller, recipient, caplog):
    response = caller.post(body=email(recipient=recipient))

    assert fields_of(response) == ["recipient"]
    assert "9f3" not in response.content.decode() + caplog.text


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b'{"body": NaN}', b'{"body": "\\ud800"}', b'{"a": 1, "a": 2}', b"\xff", b"[" * 100_000],
)
def test_create__not_json__answers_400(caller, raw):
    response = caller.post(body=raw)

    assert response.status_code == 400
    assert fields_of(response) is not None


@pytest.mark.parametrize("number", ["9" * 10_000, "1e999", "-" + "9" * 10_000])
@pytest.mark.parametrize("field", ["delaySeconds", "ttlSeconds", "maxAttempts", "priority", "body", "data", "sendAt"])
def test_create__huge_number__names_the_field(caller, field, number):
    response = caller.post(body=b'{"%s": %s}' % (field.encode(), number.encode()))

    assert response.status_code == 400
    assert field in fields_of(response)


def test_create__longest_valid_request__is_accepted(caller):
    body = email(body="😀" * 16_384, htmlBody="é" * 131_072, subject="ü" * 255, userId="u" * 255, reference="r" * 255)

    assert caller.post(body=body).status_code == 201


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
def test_create__other_media_type__answers_415(caller, media_type):
    response = caller.request("POST", NOTIFICATIONS, data=b'{"a": 1}', content_type=media_type)

    assert response.status_code == 415
    assert fields_of(response) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"sendAt": "2030-01-31T08:00:00Z"}, {"delaySeconds": 5}),
        ({"expiresAt": "2030-01-31T08:00:00Z"}, {"ttlSeconds": 5}),
        ({"idempotencyKey": "a"}, {"dedupeByContent": True}),
    ],
)
def test_create__two_fields_of_which_one_may_be_given__each_names_the_other(caller, one, other):
    errors = caller.post(body=email(**one, **other)).json()["errors"]

    (first,), (second,) = one, other
    messages = {error["field"]: error["message"] for error in errors}
    assert messages[first].endswith(second)
    assert messages[second].endswith(first)


def test_create__text_message_of_too_many_segments__is_refused_unless_it_was_stored_before(caller, settings):
    long = sms(body="x" * 161)
    assert caller.post(body=long).status_code == 201
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, sms_max_segments=1)

    refused = caller.post(body=long | {"idempotencyKey": "key-2"})
    repeated = caller.post(body=long)

    assert (refused.status_code, fields_of(refused)) == (400, ["body"])
    assert "not 2 of 153 characters each (GSM-7)" in refused.json()["errors"][0]["message"]
    assert (repeated.status_code, repeated["Idempotency-Replayed"]) == (200, "true")


def test_create__several_targets__the_limit_of_segments_is_for_the_text_message(caller, settings):
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, sms_max_segments=1)
    targets = [{"channel": "PUSH", "recipient": "fcm:token"}, {"channel": "SMS", "recipient": "+14155550100"}]

    refused = caller.post(body={"targets": targets, "body": "x" * 161, "idempotencyKey": "key-1"})

    assert (refused.status_code, fields_of(refused)) == (400, ["body"])


def test_create__text_message_longer_than_any_vendor_takes__is_refused(caller):
    assert caller.post(body=sms(body="x" * 1600)).status_code == 201
    assert fields_of(caller.post(body=sms(body="x" * 1601, idempotencyKey="key-2"))) == ["body"]
