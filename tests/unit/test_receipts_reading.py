"""What vendors' callbacks say, in our words."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.providers.sms import short_key
from notifications.receipts import DeliveryStatus, Receipt, strongest
from notifications.receipts.addresses import receipt_url, spellings
from notifications.receipts.making import WORD_MAX_LENGTH, line, masked, receipt
from notifications.receipts.status import proves_acceptance
from notifications.receipts.twilio import signature
from tests.support import callbacks
from tests.support.callbacks import KEY, NEW, call
from tests.unit.test_receipts_signatures import RECEIVERS, _vonage, receive

To = DeliveryStatus


def twilio(**fields: str) -> list[Receipt]:
    url = f"{callbacks.BASE}/receipts/twilio?key={KEY}"
    pairs = list(fields.items())
    made = call(urlencode(pairs).encode(), url=url, headers={"X-Twilio-Signature": signature(NEW, url, pairs)})
    return list(receive("twilio", made).receipts)


def sendgrid(**event: Any) -> list[Receipt]:
    fields = {"sg_event_id": "e-1", "sg_message_id": "abc.filterdrecv-5645d9c87f-x", "notifyq_id": str(KEY)} | event
    return list(receive("sendgrid", callbacks.sendgrid([fields])).receipts)


def mailgun(**event: Any) -> list[Receipt]:
    known = {"id": "e-1", "user-variables": {"notifyq_id": str(KEY)}, "message": {"headers": {"message-id": "a@b.c"}}}
    return list(receive("mailgun", call(callbacks.mailgun(known | event))).receipts)


def bulksms(kind: str, detail: str | None = None, **more: Any) -> list[Receipt]:
    message = {"id": "b-1", "status": {"type": kind, "subtype": detail}, "userSuppliedId": short_key.encode(KEY)}
    made = call([message | more], url=f"{callbacks.BASE}/receipts/bulksms?secret={NEW}")
    return list(receive("bulksms", made).receipts)


def ses(kind: str, told: dict[str, Any], **more: Any) -> list[Receipt]:
    part = {"DeliveryDelay": "deliveryDelay", "Rendering Failure": "failure"}.get(kind, kind.lower())
    event = {"eventType": kind, part: told, "mail": {"messageId": "x-1", "tags": {"notifyq_id": [str(KEY)]}}} | more
    return list(receive("ses", call(callbacks.sns(event))).receipts)


def test_twilio__a_callback__is_read_with_the_key_of_its_address() -> None:
    [found] = twilio(MessageSid="SM1", MessageStatus="undelivered", ErrorCode="30003", To="+14155550100")
    assert found == Receipt("twilio", KEY, "SM1", "SM1:undelivered", To.UNDELIVERED, "30003", word="undelivered")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *(("queued", To.ACCEPTED), ("sent", To.ACCEPTED), ("delivered", To.DELIVERED), ("read", To.OPENED)),
        *(("undelivered", To.UNDELIVERED), ("failed", To.REJECTED), ("received", None), ("", None)),
    ],
)
def test_twilio__each_status__is_one_of_ours_or_none(status: str, expected: To | None) -> None:
    assert [r.status for r in twilio(MessageSid="SM1", MessageStatus=status)] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"event": "processed"}, To.ACCEPTED),
        ({"event": "deferred"}, To.DELAYED),
        ({"event": "delivered"}, To.DELIVERED),
        ({"event": "open"}, To.OPENED),
        ({"event": "click"}, To.OPENED),
        ({"event": "bounce", "type": "bounce"}, To.BOUNCED),
        ({"event": "bounce", "type": "blocked"}, To.UNDELIVERED),
        ({"event": "dropped"}, To.REJECTED),
        ({"event": "spamreport"}, To.COMPLAINED),
        ({"event": "unsubscribe"}, None),
        ({"event": None}, None),
    ],
)
def test_sendgrid__each_event__is_one_of_ours_or_none(event: dict[str, Any], expected: To | None) -> None:
    assert [r.status for r in sendgrid(**event)] == ([expected] if expected else [])


def test_sendgrid__a_bounce__has_the_first_part_of_the_message_id_and_no_address() -> None:
    reason = "550 5.1.1 <ada@example.com>: user unknown; call +1 415 555 0100"
    [found] = sendgrid(event="bounce", status="5.1.1", reason=reason, timestamp=1_800_000_000)
    assert (found.key, found.provider_message_id, found.event_id, found.code) == (KEY, "abc", "e-1", "5.1.1")
    assert found.text == "550 5.1.1 <…>: user unknown; call …"
    assert found.at == datetime(2027, 1, 15, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"event": "accepted"}, To.ACCEPTED),
        ({"event": "delivered"}, To.DELIVERED),
        ({"event": "failed", "severity": "temporary", "reason": "generic"}, To.DELAYED),
        ({"event": "failed", "severity": "permanent", "reason": "bounce"}, To.BOUNCED),
        ({"event": "failed", "severity": "permanent", "reason": "suppress-bounce"}, To.REJECTED),
        ({"event": "failed", "severity": "permanent", "reason": "old"}, To.UNDELIVERED),
        ({"event": "rejected"}, To.REJECTED),
        ({"event": "opened"}, To.OPENED),
        ({"event": "complained"}, To.COMPLAINED),
        ({"event": "unsubscribed"}, None),
        ({"event": "delivered", "id": None}, None),
    ],
)
def test_mailgun__each_event__is_one_of_ours_or_none(event: dict[str, Any], expected: To | None) -> None:
    assert [r.status for r in mailgun(**event)] == ([expected] if expected else [])


def test_mailgun__a_failure__has_the_message_id_as_the_send_was_answered_with() -> None:
    told = {"code": 550, "message": "5.1.1 no such user", "description": "x"}
    [found] = mailgun(event="failed", severity="permanent", reason="bounce", **{"delivery-status": told})
    assert (found.key, found.provider_message_id) == (KEY, "<a@b.c>")
    assert (found.code, found.text) == ("550", "5.1.1 no such user")


@pytest.mark.parametrize(
    ("kind", "detail", "expected"),
    [
        ("ACCEPTED", None, To.ACCEPTED),
        ("SENT", None, To.ACCEPTED),
        ("DELIVERED", None, To.DELIVERED),
        ("FAILED", "EXPIRED", To.UNDELIVERED),
        ("FAILED", "HANDSET_ERROR", To.UNDELIVERED),
        ("FAILED", "BLOCKED", To.REJECTED),
        ("UNKNOWN", None, None),
        ("RECEIVED", None, None),
    ],
)
def test_bulksms__each_status__is_one_of_ours_or_none(kind: str, detail: str | None, expected: To | None) -> None:
    found = bulksms(kind, detail)
    assert [(r.status, r.key, r.code) for r in found] == ([(expected, KEY, detail or "")] if expected else [])


def test_bulksms__a_reference_of_somebody_else__is_no_key() -> None:
    [found] = bulksms("DELIVERED", userSuppliedId="order-1234")
    assert (found.key, found.provider_message_id) == (None, "b-1")


def resend(kind: str, tags: Any, **data: Any) -> list[Receipt]:
    event = {"type": kind, "created_at": "2026-11-30T16:00:00Z", "data": {"email_id": "r-1", "tags": tags} | data}
    return list(receive("resend", callbacks.resend(event)).receipts)


@pytest.mark.parametrize("tags", [{"notifyq_id": str(KEY)}, [{"name": "x"}, {"name": "notifyq_id", "value": str(KEY)}]])
def test_resend__tags_in_either_form__hold_the_key(tags: Any) -> None:
    bounce = {"type": "Permanent", "subType": "General", "message": "ada@example.com is unknown"}
    [found] = resend("email.bounced", tags, bounce=bounce)
    assert (found.key, found.provider_message_id, found.event_id) == (KEY, "r-1", "msg_1")
    assert (found.status, found.code, found.text) == (To.BOUNCED, "General", "… is unknown")
    assert found.at == datetime(2026, 11, 30, 16, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("email.sent", To.ACCEPTED),
        ("email.delivered", To.DELIVERED),
        ("email.delivery_delayed", To.DELAYED),
        ("email.opened", To.OPENED),
        ("email.failed", To.REJECTED),
        ("email.complained", To.COMPLAINED),
        ("domain.created", None),
    ],
)
def test_resend__each_event__is_one_of_ours_or_none(kind: str, expected: To | None) -> None:
    assert [r.status for r in resend(kind, "no tags")] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("kind", "told", "expected"),
    [
        ("Send", {}, To.ACCEPTED),
        ("Delivery", {"smtpResponse": "250 ok"}, To.DELIVERED),
        ("DeliveryDelay", {"delayType": "MailboxFull"}, To.DELAYED),
        ("Bounce", {"bounceType": "Permanent"}, To.BOUNCED),
        ("Bounce", {"bounceType": "Transient"}, To.UNDELIVERED),
        ("Complaint", {"complaintFeedbackType": "abuse"}, To.COMPLAINED),
        ("Reject", {"reason": "Bad content"}, To.REJECTED),
        ("Rendering Failure", {"errorMessage": "x"}, To.REJECTED),
        ("Open", {}, To.OPENED),
        ("Subscription", {}, None),
    ],
)
def test_ses__each_event__is_one_of_ours_or_none(kind: str, told: dict[str, Any], expected: To | None) -> None:
    assert [r.status for r in ses(kind, told)] == ([expected] if expected else [])


def test_ses__a_bounce__is_read_with_its_tag_and_without_the_recipient() -> None:
    person = {
        "emailAddress": "ada@example.com",
        "status": "5.1.1",
        "diagnosticCode": "smtp; 550 ada@example.com unknown",
    }
    told = {"bounceType": "Permanent", "bouncedRecipients": [person], "timestamp": "2026-11-30T16:00:00.000Z"}
    [found] = ses("Bounce", told)
    assert (found.key, found.provider_message_id, found.event_id) == (KEY, "x-1", "m-1")
    assert (found.code, found.text) == ("5.1.1", "smtp; 550 … unknown")
    assert found.at == datetime(2026, 11, 30, 16, 0, tzinfo=UTC)


@given(st.lists(st.sampled_from(list(To)), min_size=1, max_size=5))
def test_strongest__in_any_order_and_with_repeats__is_the_same(statuses: list[To]) -> None:
    found = {strongest(order) for order in itertools.permutations([*statuses, statuses[0]])}
    assert len(found) == 1


@given(st.lists(st.sampled_from(list(To)), max_size=6), st.integers(0, 6))
def test_strongest__counted_piece_by_piece__is_that_of_all(statuses: list[To], cut: int) -> None:
    first = strongest(statuses[:cut])
    assert strongest([*([first] if first else []), *statuses[cut:]]) == strongest(statuses)


def test_strongest__as_documented__grows_from_accepted_to_complained() -> None:
    order = ["ACCEPTED", "DELAYED", "REJECTED", "DELIVERED", "OPENED", "UNDELIVERED", "BOUNCED", "COMPLAINED"]
    assert list(To) == order
    assert all(strongest(pair) == pair[1] for pair in itertools.pairwise(To))
    assert strongest(["", "ACCEPTED"]) is To.ACCEPTED
    assert strongest([]) is None


def test_proves_acceptance__all_but_what_the_provider_refused() -> None:
    assert {status for status in To if not proves_acceptance(status)} == {To.REJECTED}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=2)
)


@given(JSON, JSON, JSON, JSON)
def test_receipt__of_whatever_a_vendor_writes__can_be_stored(key: Any, message_id: Any, code: Any, text: Any) -> None:
    made = receipt("p", To.BOUNCED, key=key, message_id=message_id, event=(message_id, code), code=code, text=text)
    for value, most in ((made.provider_message_id, 255), (made.event_id, 255), (made.code, 64), (made.text, 500)):
        assert len(value) <= most
        assert "\0" not in value
        value.encode("utf-8")


NAMES = st.sampled_from(
    [
        "event",
        "type",
        "status",
        "id",
        "sg_event_id",
        "sg_message_id",
        "timestamp",
        "key",
        "messageId",
        "code",
        "text",
        "severity",
        "reason",
        "message",
        "headers",
        "message-id",
        "delivery-status",
        "user-variables",
        "notifyq_id",
        "message_uuid",
        "client_ref",
        "error",
        "title",
        "subtype",
        "userSuppliedId",
        "eventType",
        "mail",
        "tags",
        "name",
        "bounce",
        "bouncedRecipients",
        "data",
        "created_at",
        "email_id",
        "value",
        "at",
    ]
)
WORDS = ["bounce", "delivered", "failed", "Bounce", "FAILED", "email.bounced", "DELIVERED", "2026-11-30T16:00:00Z"]
VALUES = st.sampled_from([*WORDS, str(KEY)]) | st.none() | st.booleans() | st.integers() | st.floats() | st.text()
SHAPES = st.dictionaries(
    NAMES,
    st.recursive(VALUES, lambda v: st.lists(v, max_size=2) | st.dictionaries(NAMES, v, max_size=4), max_leaves=8),
    max_size=9,
)


@settings(max_examples=100, deadline=None)
@given(SHAPES)
def test_receivers__of_genuine_calls_of_whatever_shape__read_or_leave_them(event: dict[str, Any]) -> None:
    calls = {
        "sandbox": callbacks.sandbox([event]),
        "mailgun": call(callbacks.mailgun(event)),
        "bulksms": call([event], url=f"{callbacks.BASE}/receipts/bulksms?secret={NEW}"),
        "vonage": _vonage(body=event),
        "resend": callbacks.resend(event),
    }
    for kind, made in calls.items():
        assert all(isinstance(r, Receipt) for r in receive(kind, made).receipts)
    reader = RECEIVERS["sendgrid"]._receipt, RECEIVERS["ses"]._read  # type: ignore[attr-defined]
    reader[0](event)
    reader[1]({"MessageId": "m", "Message": json.dumps(event)})


def test_receipt__opened_many_times__is_one_event() -> None:
    made = [receipt("p", To.OPENED, key=KEY, message_id="m", event=(n,)) for n in range(3)]
    assert len({r.event_id for r in made}) == 1


def test_receipt__a_very_long_event__keeps_its_identity() -> None:
    one, other = (receipt("p", To.BOUNCED, key=None, message_id="", event=("x" * 300, n)) for n in (1, 2))
    assert len(one.event_id) == 64
    assert one.event_id != other.event_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("550 5.1.1 unknown", "550 5.1.1 unknown"),
        ("<ada+tag@example.com> is over quota", "<…> is over quota"),
        ("to +14155550100 failed", "to … failed"),
        ("see https://x.example/?p=1", "see https://x.example/?p=1"),
    ],
)
def test_masked__texts_of_vendors__lose_addresses_and_nothing_else(text: str, expected: str) -> None:
    assert masked(text) == expected


def test_line__of_what_is_no_text__is_empty() -> None:
    values: list[object] = [None, {}, [], True, 0, 5.5]
    assert [line(value, 9) for value in values] == ["", "", "", "", "0", "5.5"]


def test_addresses__what_is_given_out__is_among_what_is_expected() -> None:
    url = receipt_url("https://notify.example.com/base/", "twilio:eu", KEY)
    assert url == f"https://notify.example.com/base/receipts/twilio:eu?key={KEY}"
    assert url in spellings("https://notify.example.com/base", "twilio:eu", f"key={KEY}")
    assert url.replace(":eu", "%3Aeu") in spellings("https://notify.example.com/base", "twilio:eu", f"key={KEY}")


@pytest.mark.parametrize("word", ["queued", "sending", "sent"])
def test_twilio__what_is_one_to_us__keeps_its_own_word(word: str) -> None:
    [found] = twilio(MessageSid="SM1", MessageStatus=word.upper())
    assert (found.status, found.word) == (To.ACCEPTED, word)


def test_words__of_each_vendor__are_those_of_its_table() -> None:
    found = {
        "twilio": twilio(MessageSid="SM1", MessageStatus="canceled"),
        "sendgrid": sendgrid(event="spamreport"),
        "mailgun": mailgun(event="failed", severity="temporary"),
        "bulksms": bulksms("FAILED", "BLOCKED"),
        "ses": ses("Rendering Failure", {}),
        "resend": resend("email.delivery_delayed", []),
        "vonage": list(receive("vonage", _vonage(body={"message_uuid": "u", "status": "undeliverable"})).receipts),
    }
    assert {kind: receipts[0].word for kind, receipts in found.items()} == {
        "twilio": "canceled",
        "sendgrid": "spamreport",
        "mailgun": "failed",
        "bulksms": "FAILED",
        "ses": "Rendering Failure",
        "resend": "email.delivery_delayed",
        "vonage": "undeliverable",
    }


@pytest.mark.parametrize("kind", sorted(RECEIVERS.keys() - {"sandbox"}))
def test_words__that_a_receiver_knows__have_room_in_their_column(kind: str) -> None:
    table = import_module(f"notifications.receipts.{kind}")._STATUSES
    assert all(0 < len(word) <= WORD_MAX_LENGTH for word in table)
