"""Every rule of a request, as data: what is sent, and which fields the refusal names."""

from datetime import UTC, datetime, timedelta

import pytest

from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.errors import InvalidRequest
from notifications.request import Defaults, check

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
DEFAULTS = {c: Defaults(6, OnUnconfirmed.RETRY) for c in Channel}
VALID = {
    "EMAIL": {"channel": "EMAIL", "recipient": "ada@example.com", "subject": "Hello", "body": "x"},
    "SMS": {"channel": "SMS", "recipient": "+14155550100", "body": "x"},
    "PUSH": {"channel": "PUSH", "recipient": "fcm:token", "body": "x"},
    "IN_APP": {"channel": "IN_APP", "recipient": "user-42", "body": "x"},
}


def checked(kind="EMAIL", /, **changes):
    return check({"idempotency_key": "k", **VALID[kind], **changes}, now=NOW, defaults=DEFAULTS)


def refused(kind="EMAIL", /, **changes):
    with pytest.raises(InvalidRequest) as caught:
        checked(kind, **changes)
    return caught.value.errors


BAD = [
    # the same for every channel
    ({"channel": None}, ["channel"]),
    ({"channel": "FAX"}, ["channel"]),
    ({"channel": "email"}, ["channel"]),
    ({"channel": 3}, ["channel"]),
    ({"channel": ["EMAIL"]}, ["channel"]),
    ({"channel": {"a": 1}}, ["channel"]),
    ({"recipient": None}, ["recipient"]),
    ({"recipient": ""}, ["recipient"]),
    ({"recipient": "  "}, ["recipient"]),
    ({"recipient": 42}, ["recipient"]),
    ({"body": None}, ["body"]),
    ({"body": ""}, ["body"]),
    ({"body": 1}, ["body"]),
    ({"body": "a\x00b"}, ["body"]),
    ({"body": "\ud800"}, ["body"]),
    ({"body": "é" * 32_769}, ["body"]),
    ({"idempotency_key": None}, ["idempotency_key"]),
    ({"idempotency_key": ""}, ["idempotency_key"]),
    ({"idempotency_key": "k" * 256}, ["idempotency_key"]),
    ({"idempotency_key": "a\nb"}, ["idempotency_key"]),
    ({"idempotency_key": "a\x7fb"}, ["idempotency_key"]),
    ({"idempotency_key": 7}, ["idempotency_key"]),
    ({"priority": "URGENT"}, ["priority"]),
    ({"priority": 0}, ["priority"]),
    ({"priority": True}, ["priority"]),
    ({"max_attempts": 0}, ["max_attempts"]),
    ({"max_attempts": 21}, ["max_attempts"]),
    ({"max_attempts": 2.5}, ["max_attempts"]),
    ({"max_attempts": True}, ["max_attempts"]),
    ({"max_attempts": "3"}, ["max_attempts"]),
    ({"max_attempts": float("nan")}, ["max_attempts"]),
    ({"max_attempts": 10**5000}, ["max_attempts"]),
    ({"on_unconfirmed": "GUESS"}, ["on_unconfirmed"]),
    ({"user_id": "u" * 256}, ["user_id"]),
    ({"user_id": 5}, ["user_id"]),
    ({"reference": "r" * 256}, ["reference"]),
    ({"reference": "a\x00"}, ["reference"]),
    ({"metadata": []}, ["metadata"]),
    ({"metadata": {"a": 1}}, ["metadata"]),
    ({"metadata": {"a": None}}, ["metadata"]),
    ({"metadata": {"": "x"}}, ["metadata"]),
    ({"metadata": {"a": "\x00"}}, ["metadata"]),
    ({"metadata": {"\udfff": "a"}}, ["metadata"]),
    ({"metadata": {str(i): "x" for i in range(21)}}, ["metadata"]),
    ({"metadata": {"a": "x" * 2048}}, ["metadata"]),
    # times
    ({"send_at": "2030-02-01T00:00:00"}, ["send_at"]),
    ({"send_at": datetime(2030, 2, 1)}, ["send_at"]),
    ({"send_at": "2030-02-30T00:00:00Z"}, ["send_at"]),
    ({"send_at": "2030-02-01"}, ["send_at"]),
    ({"send_at": "tomorrow"}, ["send_at"]),
    ({"send_at": ""}, ["send_at"]),
    ({"send_at": 1893456000}, ["send_at"]),
    ({"send_at": "2030-02-01T00:00:00+24:00"}, ["send_at"]),
    ({"send_at": "0001-01-01T00:00:00+14:00"}, ["send_at"]),
    ({"send_at": "9999-12-31T23:59:59-14:00"}, ["send_at"]),
    ({"send_at": "٢٠٣٠-02-01T00:00:00Z"}, ["send_at"]),
    ({"delay_seconds": -1}, ["delay_seconds"]),
    ({"delay_seconds": 366 * 86_400 + 1}, ["delay_seconds"]),
    ({"delay_seconds": "5"}, ["delay_seconds"]),
    ({"delay_seconds": True}, ["delay_seconds"]),
    ({"delay_seconds": float("inf")}, ["delay_seconds"]),
    ({"delay_seconds": float("nan")}, ["delay_seconds"]),
    ({"delay_seconds": 10**400}, ["delay_seconds"]),
    ({"delay_seconds": -(10**400)}, ["delay_seconds"]),
    ({"send_at": "2030-02-01T00:00:00Z", "delay_seconds": 5}, ["send_at", "delay_seconds"]),
    ({"ttl_seconds": 0}, ["ttl_seconds"]),
    ({"ttl_seconds": 1e300}, ["ttl_seconds"]),
    ({"ttl_seconds": False}, ["ttl_seconds"]),
    ({"expires_at": "2030-02-01T00:00:00Z", "ttl_seconds": 5}, ["expires_at", "ttl_seconds"]),
    # what belongs to e-mail
    ({"subject": None}, ["subject"]),
    ({"subject": ""}, ["subject"]),
    ({"subject": "s" * 256}, ["subject"]),
    ({"subject": "a\r\nBcc: eve@example.com"}, ["subject"]),
    ({"subject": "a\tb"}, ["subject"]),
    ({"subject": "a\u2028b"}, ["subject"]),
    ({"subject": "a\x85b"}, ["subject"]),
    ({"html_body": "h" * 262_145}, ["html_body"]),
    ({"html_body": 1}, ["html_body"]),
    ({"from_name": "Ada\nBcc: eve@example.com"}, ["from_name"]),
    ({"from_name": "n" * 256}, ["from_name"]),
    ({"reply_to": "not an address"}, ["reply_to"]),
    ({"reply_to": "a@example.com\r\nBcc: eve@example.com"}, ["reply_to"]),
    ({"reply_to": "a@example.com, b@example.com"}, ["reply_to"]),
    ({"data": {"a": "b"}}, ["data"]),
    ({"collapse_key": "c"}, ["collapse_key"]),
    # several at once
    (
        {"body": "", "subject": None, "max_attempts": 0, "priority": "x"},
        ["subject", "body", "priority", "max_attempts"],
    ),
]


@pytest.mark.parametrize(("changes", "fields"), BAD)
def test_check__bad_value__names_the_fields(changes, fields):
    errors = refused(**changes)

    assert [e.field for e in errors] == fields
    assert all(e.code and e.message for e in errors)


BAD_FOR_CHANNEL = [
    ("SMS", {"body": "x" * 1601}, ["body"]),
    ("SMS", {"subject": "Hello"}, ["subject"]),
    ("SMS", {"html_body": "<p>"}, ["html_body"]),
    ("SMS", {"from_name": "Ada", "reply_to": "a@example.com"}, ["from_name", "reply_to"]),
    ("SMS", {"data": {}}, ["data"]),
    ("PUSH", {"html_body": "<p>"}, ["html_body"]),
    ("PUSH", {"body": "x" * 4096}, ["body"]),
    ("PUSH", {"body": "x", "data": {"a": "é" * 2040}}, ["data"]),
    ("PUSH", {"body": "x", "data": {"aps": "y"}}, ["data"]),
    ("PUSH", {"body": "x", "data": {"google.a": "y"}}, ["data"]),
    ("PUSH", {"body": "x", "data": {"notifyq_id": "y"}}, ["data"]),
    ("PUSH", {"data": {"a": {"b": "c"}}}, ["data"]),
    ("PUSH", {"data": {"a": 1}}, ["data"]),
    ("PUSH", {"data": {"a": True}}, ["data"]),
    ("PUSH", {"data": {"a": float("inf")}}, ["data"]),
    ("PUSH", {"data": "a"}, ["data"]),
    ("PUSH", {"collapse_key": "c" * 65}, ["collapse_key"]),
    ("PUSH", {"collapse_key": "a\nb"}, ["collapse_key"]),
    ("PUSH", {"collapse_key": "é"}, ["collapse_key"]),
    ("IN_APP", {"html_body": "<p>"}, ["html_body"]),
    ("IN_APP", {"from_name": "Ada"}, ["from_name"]),
    ("IN_APP", {"reply_to": "a@example.com"}, ["reply_to"]),
    ("IN_APP", {"data": {"a": 1}}, ["data"]),
    ("IN_APP", {"data": {"a": "x" * 16_384}}, ["data"]),
    ("IN_APP", {"subject": "a\nb"}, ["subject"]),
    ("IN_APP", {"recipient": "a" * 256}, ["recipient"]),
]


@pytest.mark.parametrize(("channel", "changes", "fields"), BAD_FOR_CHANNEL)
def test_check__value_not_for_this_channel__names_the_fields(channel, changes, fields):
    assert [e.field for e in refused(channel, **changes)] == fields


CLOCK = [
    ({"send_at": "2031-01-02T12:00:01Z"}, ["send_at"]),
    ({"expires_at": "2030-01-01T12:00:00Z"}, ["expires_at"]),
    ({"expires_at": "2020-01-01T00:00:00Z"}, ["expires_at"]),
    ({"send_at": "2030-01-03T00:00:00Z", "expires_at": "2030-01-02T00:00:00Z"}, ["expires_at", "send_at"]),
    ({"delay_seconds": 60, "expires_at": "2030-01-01T12:01:00Z"}, ["expires_at", "delay_seconds"]),
]


@pytest.mark.parametrize(("changes", "fields"), CLOCK)
def test_check__wrong_only_at_this_time__is_told_apart(changes, fields):
    assert [e.field for e in checked(**changes).present_errors] == fields


@pytest.mark.parametrize(("changes", "fields"), CLOCK)
def test_check__wrong_time_and_something_else__names_both(changes, fields):
    assert {e.field for e in refused(**changes, priority="x")} == {"priority", *fields}


def test_check__everything_absent__names_every_required_field():
    with pytest.raises(InvalidRequest) as caught:
        check({}, now=NOW, defaults=DEFAULTS)

    assert {e.field for e in caught.value.errors} == {"idempotency_key", "channel", "recipient", "body"}


def test_check__error_text__repeats_no_value():
    values = {"recipient": "not-an-address-9f3", "reply_to": "secret-9f3", "body": "9f3\x00", "subject": "9f3\n"}

    assert "9f3" not in " ".join(e.message for e in refused(**values))


def test_check__null__is_absent():
    optional = ["html_body", "from_name", "reply_to", "priority", "send_at", "delay_seconds", "expires_at", "data"]
    optional += ["ttl_seconds", "max_attempts", "user_id", "reference", "metadata", "collapse_key", "on_unconfirmed"]

    assert checked(**dict.fromkeys(optional)).request == checked().request


GOOD = [
    ("EMAIL", {"body": "x" * 65_536}),
    ("EMAIL", {"subject": "s" * 255, "from_name": "Ada, Countess “of” Lovelace", "reply_to": "b@example.com"}),
    ("EMAIL", {"html_body": "h" * 262_144}),
    ("EMAIL", {"idempotency_key": "k" * 255}),
    ("EMAIL", {"idempotency_key": "schlüssel 1"}),
    ("EMAIL", {"metadata": {str(i): "x" for i in range(20)}}),
    ("SMS", {"body": "x" * 1600}),
    ("PUSH", {"body": "x", "data": {"a": "b"}, "subject": "t", "collapse_key": "c" * 64}),
    ("IN_APP", {"body": "x" * 65_536, "data": {"a": "x" * 16_376}, "subject": "t" * 255, "collapse_key": "c" * 64}),
    ("EMAIL", {"max_attempts": 20}),
    ("EMAIL", {"max_attempts": 3.0}),
    ("EMAIL", {"delay_seconds": 366 * 86_400}),
    ("EMAIL", {"delay_seconds": 0.25, "ttl_seconds": 0.5}),
    ("EMAIL", {"send_at": "2031-01-02T12:00:00Z"}),
]


@pytest.mark.parametrize(("channel", "changes"), GOOD)
def test_check__value_at_its_limit__is_accepted(channel, changes):
    assert checked(channel, **changes).present_errors == ()


def few_segments(body, most=2):
    defaults = DEFAULTS | {Channel.SMS: Defaults(6, OnUnconfirmed.RETRY, max_segments=most)}
    return check({"idempotency_key": "k", **VALID["SMS"], "body": body}, now=NOW, defaults=defaults)


@pytest.mark.parametrize(
    ("body", "size"),
    [("x" * 307, "3 of 153 characters each (GSM-7)"), ("ж" * 135, "3 of 67 characters each (UCS-2)")],
)
def test_check__text_message_of_too_many_segments__is_told_how_many(body, size):
    [error] = few_segments(body).present_errors

    assert (error.field, error.code) == ("body", "too_many_segments")
    assert error.message == f"must take at most 2 segments of a text message, not {size}"


@pytest.mark.parametrize("body", ["x" * 306, "ж" * 134])
def test_check__text_message_of_as_many_segments_as_allowed__is_accepted(body):
    assert few_segments(body).present_errors == ()


def test_check__text_message_over_every_limit__names_the_body_once():
    with pytest.raises(InvalidRequest) as caught:
        few_segments("x" * 1601)

    assert [(e.field, e.code) for e in caught.value.errors] == [("body", "too_long")]


def test_check__no_times__means_now():
    schedule = checked().schedule

    assert (schedule.send_at, schedule.expires_at) == (NOW, None)


def test_check__past_send_at__means_now():
    assert checked(send_at="2020-01-01T00:00:00Z", ttl_seconds=60).schedule.expires_at == NOW + timedelta(seconds=60)


def test_check__ttl__counts_from_the_send_time():
    assert checked(delay_seconds=60, ttl_seconds=30).schedule.expires_at == NOW + timedelta(seconds=90)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2030-02-01T00:00:00Z", datetime(2030, 2, 1, tzinfo=UTC)),
        ("2030-02-01t00:00:00z", datetime(2030, 2, 1, tzinfo=UTC)),
        ("2030-02-01T02:00:00.5+02:00", datetime(2030, 2, 1, microsecond=500_000, tzinfo=UTC)),
        ("2030-02-01T00:00:00.123456789-00:00", datetime(2030, 2, 1, microsecond=123_456, tzinfo=UTC)),
        ("2030-06-30T23:59:60Z", datetime(2030, 7, 1, tzinfo=UTC)),
    ],
)
def test_check__rfc3339_time__is_read_as_utc(text, instant):
    assert checked(send_at=text).schedule.send_at == instant


def test_check__members_of_enumerations__stand_for_their_names():
    request = checked(channel=Channel.EMAIL, priority=Priority.HIGH, on_unconfirmed=OnUnconfirmed.HOLD).request

    assert (request.channel, request.priority, request.on_unconfirmed) == (
        Channel.EMAIL,
        Priority.HIGH,
        OnUnconfirmed.HOLD,
    )


def test_request__repr__shows_nothing_private():
    request = checked(body="body-9f3", recipient="p9f3@example.com", subject="s9f3", user_id="u9f3").request

    assert "9f3" not in repr(request)
