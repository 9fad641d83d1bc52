"""Asking SendGrid about a mail: what each answer of its logs proves, and that the rest proves nothing."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from notifications.channel import Channel
from notifications.providers.base import FoundBy, Message
from notifications.providers.email.sendgrid import CAPABILITIES, SendGridProvider
from notifications.providers.email.sendgrid_logs import ROWS_MOST
from notifications.verdict import Found
from tests.contracts.conformance import FAULTS, http_answer
from tests.contracts.email_vendor import SENDER, http_date
from tests.support.fault_server import FaultServer, closed_port
from tests.support.in_turn import in_turn

OURS = "5f0c2b44-9a43-4d9e-9c53-1f6b4f0f4a11"
OTHERS = "00000000-0000-4000-8000-000000000000"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=2)
MESSAGE = Message(id=UUID(OURS), channel=Channel.EMAIL, recipient="ada.private@example.org", body="b", subject="s")


def answered(status, document, **headers):
    return http_answer(status, json.dumps(document).encode(), Date=http_date(NOW), **headers)


def listed(*ids):
    return answered(200, {"messages": [{"sg_message_id": i, "to_email": MESSAGE.recipient} for i in ids]})


def record(message_id, key, status="processed", **fields):
    arguments = {} if key is None else {"custom_args": {"notifyq_id": key}}
    return answered(200, {"sg_message_id": message_id, "status": status, "events": [], **arguments, **fields})


def look_up(*answers, message=MESSAGE, since=LONG_AGO, timeout_seconds=10.0):
    with FaultServer(in_turn(*answers)) as server:
        provider = SendGridProvider("sendgrid", server.url, "SG.secret", SENDER)
        try:
            finding = provider.look_up(message, since=since, timeout_seconds=timeout_seconds)
        finally:
            provider.close()
    assert "private" not in repr(finding)
    return finding, server.requests


def test_capabilities__say_that_it_is_found_by_key_and_drops_no_repeats():
    assert CAPABILITIES.lookup is not None
    assert CAPABILITIES.lookup.by is FoundBy.KEY
    assert CAPABILITIES.receipts_carry_key
    assert not CAPABILITIES.dedupes


def test_requests__are_a_search_since_a_little_before_and_one_for_each_mail_found():
    finding, (search, read) = look_up(listed("id/1"), record("id/1", OURS))

    assert (finding.found, finding.provider_message_id) == (Found.ACCEPTED, "id/1")
    assert search.startswith(b"POST /v3/logs HTTP/1.1")
    assert json.loads(search.partition(b"\r\n\r\n")[2]) == {
        "query": 'to_email="ada.private@example.org" AND sg_message_id_created_at > TIMESTAMP "2026-03-01T09:55:00Z"',
        "limit": ROWS_MOST,
    }
    assert read.startswith(b"GET /v3/logs/id%2F1 HTTP/1.1")
    assert b"Authorization: Bearer SG.secret" in read


@pytest.mark.parametrize("status", ["processed", "delivered", "deferred", "bounced", "blocked"])
def test_found__whatever_became_of_it__was_accepted(status):
    assert look_up(listed("a", "b"), record("a", OTHERS), record("b", OURS, status))[0].found is Found.ACCEPTED


def test_found__dropped__was_refused():
    finding, _ = look_up(listed("a"), record("a", OURS, "dropped"))

    assert (finding.found, finding.error_code) == (Found.REJECTED, "dropped")


@pytest.mark.parametrize("long", ["XBg2anf2TqCy6WXKQFhieQ.recvd-5b8c-4434-59E0C6FF-3.0", "XBg2anf2TqCy6WXKQFhieQ"])
def test_found__id_of_the_logs__becomes_the_one_that_a_send_is_answered_with(long):
    finding, (_, read) = look_up(listed(long), record(long, OURS))

    assert finding.provider_message_id == "XBg2anf2TqCy6WXKQFhieQ"
    assert read.startswith(f"GET /v3/logs/{long} HTTP/1.1".encode())


def test_found__dropped_and_processed__was_accepted():
    answers = listed("a", "b"), record("a", OURS, "dropped"), record("b", OURS)

    assert look_up(*answers)[0].found is Found.ACCEPTED


@pytest.mark.parametrize(
    "answers",
    [
        (listed(),),
        (listed("a", "b"), record("a", OTHERS), record("b", OTHERS)),
        (listed("a"), record("a", None, custom_args={})),
    ],
    ids=["nothing", "other notifications", "a mail of another sender"],
)
def test_absent__all_mails_to_the_recipient_are_others(answers):
    assert look_up(*answers)[0].found is Found.ABSENT


@pytest.mark.parametrize(
    ("since", "code"),
    [
        (NOW - timedelta(minutes=59), "not_listed_yet"),
        (NOW + timedelta(minutes=5), "not_listed_yet"),
        (NOW - timedelta(days=1, minutes=1), "no_longer_listed"),
    ],
)
def test_absent__too_early_or_too_late__is_not_believed(since, code):
    finding, _ = look_up(listed(), since=since)

    assert (finding.found, finding.error_code) == (Found.UNKNOWN, code)


@pytest.mark.parametrize(
    "answers",
    [
        (answered(200, {}),),
        (answered(200, {"messages": None}),),
        (answered(200, []),),
        (answered(200, {"messages": [7]}),),
        (answered(200, {"messages": [{"sg_message_id": "a"}, {}]}),),
        (http_answer(200, b"<html>maintenance</html>"),),
        (answered(202, {"messages": []}),),
        (answered(400, {"errors": []}),),
        (answered(403, {"errors": []}),),
        (answered(500, {"messages": []}),),
        (listed("a"), answered(404, {"errors": []})),
        (listed("a"), answered(500, {})),
        (listed("a"), answered(200, {})),
        (listed("a"), record("another", OURS)),
        (listed("a"), record("a", None)),
        (listed("a"), record("a", None, custom_args="notifyq_id")),
        (listed("a"), record("a", OURS, "something new")),
        (listed("a"), record("a", OURS, status=None)),
        (listed("a", "b"), record("a", OURS, "dropped"), answered(500, {})),
        (listed("a", "b"), record("a", OTHERS), answered(429, {})),
        (listed(*"abcdefghij"), *(record(i, OTHERS) for i in "abcdefghij")),
    ],
)
def test_unclear__whatever_it_is__proves_nothing(answers):
    finding, requests = look_up(*answers)

    assert finding.found is Found.UNKNOWN
    assert finding.error_code
    assert len(requests) == len(answers)


def test_unclear__but_another_one_is_ours__was_accepted():
    assert look_up(listed("a", "b"), answered(500, {}), record("b", OURS))[0].found is Found.ACCEPTED


@pytest.mark.parametrize("recipient", ['"ada private"@example.org', '"ada\\\\private"@example.org'])
def test_recipient__that_a_query_cannot_hold__is_not_asked_for(recipient):
    finding, requests = look_up(message=replace(MESSAGE, recipient=recipient))

    assert (finding.found, finding.error_code, requests) == (Found.UNKNOWN, "not_searchable", [])


@pytest.mark.parametrize("recipient", ["Ada.Private@example.org", "o'private@example.org", "jörg@example.org"])
def test_recipient__perhaps_kept_in_another_form__is_found_but_never_absent(recipient):
    unusual = replace(MESSAGE, recipient=recipient)

    assert look_up(listed(), message=unusual)[0].found is Found.UNKNOWN
    assert look_up(listed("a"), record("a", OURS), message=unusual)[0].found is Found.ACCEPTED


def test_throttled__keeps_the_wish_to_wait():
    finding, _ = look_up(answered(429, {}, X_RateLimit_Reset=str(int(NOW.timestamp()) + 12)))

    assert (finding.found, finding.retry_after_seconds) == (Found.UNKNOWN, 12)


def test_time__over_after_the_search__is_unknown():
    finding, requests = look_up(listed("a"), timeout_seconds=0.3)

    assert (finding.found, finding.error_code, len(requests)) == (Found.UNKNOWN, "read_timeout", 2)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.code != "read_timeout"], ids=lambda f: f.name)
def test_fault__of_the_connection__proves_nothing(fault):
    with FaultServer(fault.script) as server:
        provider = SendGridProvider("sendgrid", server.url, "SG.secret", SENDER)
        finding = provider.look_up(MESSAGE, since=LONG_AGO, timeout_seconds=5)
        provider.close()

    assert finding.found is Found.UNKNOWN
    assert server.connections == 1


def test_refused__nobody_listens__proves_nothing():
    provider = SendGridProvider("sendgrid", f"http://127.0.0.1:{closed_port()}", "SG.secret", SENDER)

    assert provider.look_up(MESSAGE, since=LONG_AGO, timeout_seconds=5).error_code == "connect_refused"
