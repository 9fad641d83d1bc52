"""Asking Mailgun about a mail: what each answer proves, and that the rest proves nothing."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from notifications.channel import Channel
from notifications.providers.base import FoundBy, Message
from notifications.providers.email.mailgun import CAPABILITIES, MailgunProvider
from notifications.verdict import Found
from tests.contracts.conformance import FAULTS, http_answer
from tests.contracts.email_vendor import SENDER, http_date
from tests.support.fault_server import FaultServer
from tests.support.in_turn import in_turn

OURS = "5f0c2b44-9a43-4d9e-9c53-1f6b4f0f4a11"
MESSAGE_ID = f"{OURS}@acme.example"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=2)
MESSAGE = Message(id=UUID(OURS), channel=Channel.EMAIL, recipient="ada.private@example.org", body="b", subject="s")


def event(name, message_id=MESSAGE_ID):
    return {"event": name, "recipient": MESSAGE.recipient, "message": {"headers": {"message-id": message_id}}}


def answered(status, document):
    return http_answer(status, json.dumps(document).encode(), Date=http_date(NOW))


def events(*items):
    return answered(200, {"items": list(items), "paging": {"next": "https://api.mailgun.net/v3/…"}})


def look_up(answer, *, message=MESSAGE, since=LONG_AGO):
    with FaultServer(in_turn(answer)) as server:
        provider = MailgunProvider("mailgun", server.url, "mg.acme.example", "key-secret", SENDER)
        try:
            finding = provider.look_up(message, since=since, timeout_seconds=5)
        finally:
            provider.close()
    assert "private" not in repr(finding)
    return finding, server.requests


def test_capabilities__say_that_it_is_found_by_key_and_drops_no_repeats():
    assert CAPABILITIES.lookup is not None
    assert CAPABILITIES.lookup.by is FoundBy.KEY
    assert CAPABILITIES.receipts_carry_key
    assert not CAPABILITIES.dedupes


def test_request__asks_for_the_message_id_without_brackets_since_a_little_before():
    _, (request,) = look_up(events())

    method, target, _ = request.partition(b"\r\n")[0].decode().split(" ")
    assert (method, urlsplit(target).path) == ("GET", "/v3/mg.acme.example/events")
    assert parse_qs(urlsplit(target).query) == {
        "message-id": [MESSAGE_ID],
        "begin": [str(int((LONG_AGO - timedelta(minutes=5)).timestamp()))],
        "ascending": ["yes"],
        "limit": ["300"],
    }
    assert b"private" not in request


def test_request__client_has_its_own_sender__asks_for_the_id_of_its_domain():
    _, (request,) = look_up(events(), message=replace(MESSAGE, sender={"email_from": "a@shop.example"}))

    assert f"message-id={OURS}%40shop.example".encode() in request


@pytest.mark.parametrize("name", ["accepted", "delivered", "failed", "opened", "complained"])
def test_found__whatever_became_of_it__was_accepted(name):
    finding, _ = look_up(events(event(name)))

    assert (finding.found, finding.provider_message_id) == (Found.ACCEPTED, f"<{MESSAGE_ID}>")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["rejected"], Found.REJECTED),
        (["accepted", "rejected"], Found.REJECTED),
        (["rejected", "delivered"], Found.ACCEPTED),
        (["rejected", "something new"], Found.UNKNOWN),
        (["something new"], Found.UNKNOWN),
        (["accepted", "something new"], Found.ACCEPTED),
    ],
)
def test_found__several_events__say_what_they_prove_together(names, found):
    assert look_up(events(*map(event, names)))[0].found is found


def test_absent__no_event_after_long__is_believed():
    assert look_up(events())[0].found is Found.ABSENT


@pytest.mark.parametrize(
    ("since", "code"),
    [
        (NOW - timedelta(minutes=59), "not_listed_yet"),
        (NOW - timedelta(hours=24, minutes=1), "no_longer_listed"),
    ],
)
def test_absent__too_early_or_too_late__is_not_believed(since, code):
    finding, _ = look_up(events(), since=since)

    assert (finding.found, finding.error_code) == (Found.UNKNOWN, code)


@pytest.mark.parametrize(
    "answer",
    [
        http_answer(200, b"Mailgun Magnificent API"),
        http_answer(200),
        answered(200, {}),
        answered(200, {"items": None}),
        answered(200, {"items": {}}),
        answered(200, []),
        events(7),
        events({}),
        events({"event": "accepted"}),
        events({"event": "accepted", "message": {"headers": None}}),
        events({"event": None, "message": {"headers": {"message-id": MESSAGE_ID}}}),
        events(event("accepted", "another@acme.example")),
        events(event("accepted"), event("accepted", "another@acme.example")),
        answered(204, {"items": []}),
        answered(400, {"items": []}),
        answered(401, {}),
        answered(404, {"items": []}),
        answered(429, {}),
        answered(500, {"items": []}),
    ],
)
def test_unclear__whatever_it_is__proves_nothing(answer):
    finding, _ = look_up(answer)

    assert finding.found is Found.UNKNOWN
    assert finding.error_code


def test_unclear__client_has_a_wrong_sender__is_not_asked():
    finding, requests = look_up(events(), message=replace(MESSAGE, sender={"email_from": "nobody"}))

    assert (finding.found, requests) == (Found.UNKNOWN, [])


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.code != "read_timeout"], ids=lambda f: f.name)
def test_fault__of_the_connection__proves_nothing(fault):
    with FaultServer(fault.script) as server:
        provider = MailgunProvider("mailgun", server.url, "mg.acme.example", "key-secret", SENDER)
        finding = provider.look_up(MESSAGE, since=LONG_AGO, timeout_seconds=5)
        provider.close()

    assert finding.found is Found.UNKNOWN
    assert server.connections == 1
