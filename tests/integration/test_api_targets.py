"""POST /api/v1/notifications with several targets, and keys made of the content"""

import pytest

from notifications.models import Content, Notification
from tests.support.api import NOTIFICATIONS, Caller, email, fields_of, push, sms

MAIL = {"channel": "EMAIL", "recipient": "ada@example.com"}
PHONE = {"channel": "SMS", "recipient": "+14155550100"}
DEVICE = {"channel": "PUSH", "recipient": "fcm:token"}


def group(*targets, **changes):
    shared = {"targets": list(targets), "body": "It works.", "idempotencyKey": "key-1"}
    return shared | ({"subject": "Hello"} if MAIL in targets else {}) | changes


def test_targets__valid__makes_one_notification_each_in_one_group(caller):
    response = caller.post(body=group(MAIL, PHONE, DEVICE, htmlBody="<p>", data={"a": "b"}, reference="r"))

    answer = response.json()
    assert (response.status_code, set(answer)) == (201, {"groupId", "notifications"})
    assert [(n["channel"], n["recipient"]) for n in answer["notifications"]] == [
        tuple(t.values()) for t in (MAIL, PHONE, DEVICE)
    ]
    assert {n["groupId"] for n in answer["notifications"]} == {answer["groupId"]}
    listed = caller.get(response["Location"].removeprefix("http://testserver")).json()["results"]
    assert {n["id"] for n in listed} == {n["id"] for n in answer["notifications"]}


def test_targets__fields_of_some_channels__go_where_the_channel_has_them(caller):
    caller.post(body=group(MAIL, PHONE, DEVICE, htmlBody="<p>", data={"a": "b"}))

    rows = Content.objects.order_by("notification__target_index")
    assert [(c.subject, c.body, c.html_body, c.data) for c in rows] == [
        ("Hello", "It works.", "<p>", {}),
        ("", "It works.", "", {}),
        ("Hello", "It works.", "", {"a": "b"}),
    ]


def test_targets__repeat__answers_200_with_the_present_states(caller):
    first = caller.post(body=group(MAIL, PHONE)).json()
    caller.post(f"{NOTIFICATIONS}/{first['notifications'][0]['id']}/cancel")

    again = caller.post(body=group({**MAIL, "recipient": " ada@EXAMPLE.com "}, PHONE, subject="Hello"))

    assert (again.status_code, again["Idempotency-Replayed"]) == (200, "true")
    assert again.json()["groupId"] == first["groupId"]
    assert [n["status"] for n in again.json()["notifications"]] == ["CANCELLED", "PENDING"]
    assert Notification.objects.count() == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (group(MAIL, PHONE), group(MAIL, PHONE, body="other")),
        (group(MAIL, PHONE), group(MAIL, DEVICE)),
        (group(MAIL, PHONE), group(PHONE, MAIL)),
        (group(MAIL, PHONE), group(MAIL, PHONE, DEVICE)),
        (group(MAIL, PHONE), email(subject="Hello", body="It works.")),
        (email(subject="Hello", body="It works."), group(MAIL, PHONE)),
    ],
)
def test_targets__same_key_another_request__is_409_and_adds_nothing(caller, one, other):
    assert caller.post(body=one).status_code == 201
    before = Notification.objects.count()

    assert caller.post(body=other).status_code == 409
    assert Notification.objects.count() == before


def test_targets__key_in_the_header__belongs_to_the_request(caller):
    body = group(MAIL, PHONE, idempotencyKey=None)

    assert [caller.post(body=body, Idempotency_Key="a").status_code for _ in range(2)] == [201, 200]
    assert set(Notification.objects.values_list("idempotency_key", "target_index")) == {("a", 0), ("a", 1)}


def test_targets__some_rows_of_the_key_gone__adds_none_and_shows_the_rest(caller):
    caller.post(body=group(MAIL, PHONE))
    Notification.objects.filter(target_index=1).delete()

    again = caller.post(body=group(MAIL, PHONE))

    assert (again.status_code, len(again.json()["notifications"])) == (200, 1)
    assert Notification.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (group(MAIL), ["targets"]),
        (group(*[{**MAIL, "recipient": f"p{n}@example.com"} for n in range(11)]), ["targets"]),
        (group() | {"targets": "all"}, ["targets"]),
        (group(MAIL, "x"), ["targets[1]"]),
        (group(MAIL, {**PHONE, "subject": "x"}), ["targets[1]"]),
        (group(MAIL, {"channel": "FAX", "recipient": "1"}), ["targets[1].channel"]),
        (group(MAIL, {"channel": "SMS"}), ["targets[1].recipient"]),
        (group({**MAIL, "recipient": "x"}, {**PHONE, "recipient": "y"}, subject="s"), [
            "targets[0].recipient",
            "targets[1].recipient",
        ]),
        (group(MAIL, PHONE, subject=None), ["subject"]),
        (group(MAIL, PHONE, body="x" * 1601), ["body"]),
        (group(MAIL, PHONE, data={"a": "b"}), ["data"]),
        (group(PHONE, {**PHONE, "recipient": "+14155550101"}, subject="x", htmlBody="x"), ["subject", "htmlBody"]),
        (group(MAIL, {**MAIL, "recipient": "ada@EXAMPLE.com"}), ["targets"]),
        (group(MAIL, PHONE, recipient="x", channel="SMS"), ["channel", "recipient"]),
        (group(MAIL, PHONE, idempotencyKey=None), ["idempotencyKey"]),
        (group(MAIL, PHONE, sendAt="x", colour="red"), ["colour", "sendAt"]),
        (group(MAIL, PHONE, expiresAt="2020-01-01T00:00:00Z"), ["expiresAt"]),
    ],
)  # fmt: skip
def test_targets__anything_wrong__is_named_and_nothing_is_stored(caller, body, fields):
    response = caller.post(body=body)

    assert (response.status_code, fields_of(response)) == (400, fields)
    assert not Notification.objects.exists()


def test_targets__cancel_of_the_group__reaches_all(caller):
    answer = caller.post(body=group(MAIL, PHONE)).json()

    cancelled = caller.post(f"{NOTIFICATIONS}/cancel", body={"groupId": answer["groupId"]}).json()

    assert cancelled == {"cancelled": 2, "tooLate": 0}


def unkeyed(request, **changes):
    return request | {"idempotencyKey": None, "dedupeByContent": True} | changes


@pytest.mark.parametrize("body", [email(userId="u"), sms(), push(data={"a": "b"}), group(MAIL, PHONE)])
def test_dedupe_by_content__same_content__is_a_repeat(caller, body):
    codes = [caller.post(body=unkeyed(body)).status_code for _ in range(2)]

    assert codes == [201, 200]


@pytest.mark.parametrize(
    "other",
    [
        {"body": "x"},
        {"subject": "x"},
        {"htmlBody": "x"},
        {"userId": "x"},
        {"recipient": "bob@example.com"},
        {"replyTo": "bob@example.com"},
    ],
)
def test_dedupe_by_content__other_content_or_person__is_new(caller, other):
    caller.post(body=unkeyed(email()))

    assert caller.post(body=unkeyed(email(), **other)).status_code == 201


def test_dedupe_by_content__same_content_other_details__is_409_as_for_any_key(caller):
    caller.post(body=unkeyed(email()))

    assert caller.post(body=unkeyed(email(), priority="HIGH")).status_code == 409


def test_dedupe_by_content__its_key__is_none_that_a_client_can_send(caller):
    caller.post(body=unkeyed(email()))
    key = Notification.objects.get().idempotency_key

    assert (len(key) <= 255, key.isprintable()) == (True, False)
    assert fields_of(caller.post(body=email(idempotencyKey=key))) == ["idempotencyKey"]


def test_dedupe_by_content__other_client__is_another_key(caller):
    assert [c.post(body=unkeyed(email())).status_code for c in (caller, Caller())] == [201, 201]


def test_dedupe_by_content__with_a_key__names_both(caller):
    body = email(dedupeByContent=True)

    assert fields_of(caller.post(body=body)) == ["idempotencyKey", "dedupeByContent"]
    response = caller.post(body=body | {"idempotencyKey": None}, Idempotency_Key="a")
    assert fields_of(response) == ["idempotencyKey", "dedupeByContent"]


def test_dedupe_by_content__false_or_no_boolean__leaves_the_key_required(caller):
    assert caller.post(body=email(dedupeByContent=False)).status_code == 201
    assert fields_of(caller.post(body=email(dedupeByContent=False, idempotencyKey=None))) == ["idempotencyKey"]
    assert fields_of(caller.post(body=email(dedupeByContent="yes"))) == ["dedupeByContent"]


def test_dedupe_by_content__in_a_batch__is_a_repeat_too(caller):
    items = [unkeyed(email()), unkeyed(email()), unkeyed(sms())]

    answer = caller.post(f"{NOTIFICATIONS}/batch", body={"notifications": items}).json()

    assert [r["status"] for r in answer["results"]] == [201, 200, 201]
