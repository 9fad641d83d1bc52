"""The BulkSMS adapter against a peer that fails in every way, and that answers as BulkSMS does."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from notifications.channel import Channel
from notifications.providers.sms import short_key
from notifications.providers.sms.bulksms import BulkSmsProvider
from notifications.verdict import Found, Outcome
from tests.support.fault_server import FaultServer, closed_port
from tests.support.sms import (
    BODY,
    MESSAGE,
    RECIPIENT,
    SENDER,
    SINCE,
    answer,
    body_of,
    header_of,
    http_date,
    in_turn,
    target,
)

pytest.register_assert_rewrite("tests.contracts.conformance")

from tests.contracts.conformance import HttpAdapterConformance  # noqa: E402

KEY = short_key.encode(MESSAGE.id)


def item(**changes):
    return {
        "id": "4023457654",
        "type": "SENT",
        "to": "4915112345678",
        "body": BODY,
        "status": {"id": "ACCEPTED.null", "type": "ACCEPTED"},
        "submission": {"id": "2-00000000000522347562", "date": "2026-11-30T10:00:00Z"},
        "userSuppliedId": KEY,
    } | changes


TAKEN = answer(201, [item()])


def bulksms(url, **changes):
    return BulkSmsProvider("bulksms", **{"auth": ("id", "secret"), "sender": SENDER, "url": url} | changes)


def problem(status, name):
    kind = f"https://developer.bulksms.com/json/v1/errors#{name}"
    return answer(status, {"type": kind, "title": "Oh", "status": status, "detail": f"{RECIPIENT}: {BODY}"})


def send(*answers, message=MESSAGE, **settings):
    with FaultServer(in_turn(*answers)) as server:
        provider = bulksms(server.url, **settings)
        verdict = provider.send(message, timeout_seconds=10)
        provider.close()
    assert BODY not in repr(verdict)
    assert RECIPIENT not in repr(verdict)
    return verdict, server.requests


class TestBulkSmsProvider(HttpAdapterConformance):
    channel = Channel.SMS
    acceptance = TAKEN

    def build(self, url):
        return bulksms(url)

    @pytest.fixture
    def message(self):
        return MESSAGE


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (problem(400, "bad-request"), Outcome.REJECTED, "bad-request"),
        (problem(400, "something-new"), Outcome.UNCONFIRMED, "no_proof"),
        (problem(403, "insufficient-credits"), Outcome.PROVIDER_FAULT, "insufficient-credits"),
        (problem(403, "forbidden"), Outcome.PROVIDER_FAULT, "http_403"),
        (problem(401, "unauthorized"), Outcome.PROVIDER_FAULT, "http_401"),
        (problem(500, "bad-request"), Outcome.UNCONFIRMED, "http_500"),
        (problem(503, "insufficient-credits"), Outcome.UNCONFIRMED, "http_503"),
        (answer(400, {"type": 7}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, []), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, [item(), item()]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, item()), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, ["4023457654"]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, [item(id=None)]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, [item(submission=None)]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, [item(submission={"id": ""})]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, [item()]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, [item(userSuppliedId="0" * 20)]), Outcome.UNCONFIRMED, "another_message"),
        (TAKEN, Outcome.ACCEPTED, ""),
    ],
)
def test_answer__of_bulksms__has_its_verdict(reply, outcome, code):
    verdict, _ = send(reply)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_throttled__with_either_form_of_retry_after__carries_the_wish(form):
    now = datetime.now(UTC)
    wish = "30" if form == "seconds" else http_date(now + timedelta(seconds=30))

    verdict, _ = send(answer(429, {}, Retry_After=wish, Date=http_date(now)))

    assert verdict.throttled
    assert verdict.retry_after_seconds == pytest.approx(30, abs=1)


def test_request__any_attempt__has_the_same_number_and_key():
    (_, [first]), (_, [second]) = send(TAKEN), send(TAKEN, message=replace(MESSAGE, attempt_number=2))

    asked = {"deduplication-id": str(MESSAGE.serial), "auto-unicode": "true"}
    assert target(first) == target(second) == ("POST", "/v1/messages", asked)
    assert body_of(first) == body_of(second)
    assert header_of(first, "Authorization") == "Basic " + base64.b64encode(b"id:secret").decode()
    [entry] = json.loads(body_of(first))
    assert entry.pop("longMessageMaxParts") > 49
    assert entry == {"to": RECIPIENT, "from": SENDER, "body": BODY, "userSuppliedId": KEY}


def test_request__without_a_sender__leaves_it_to_the_account():
    _, [request] = send(TAKEN, sender="")

    assert "from" not in json.loads(body_of(request))[0]


def test_send__without_a_number__is_not_made():
    verdict, requests = send(message=replace(MESSAGE, serial=0))

    assert (verdict.outcome, verdict.error_code, requests) == (Outcome.TEMPORARY, "no_serial", [])


CASES = {
    "there": (answer(200, [item()]), Found.ACCEPTED, ""),
    "there twice": (answer(200, [item(), item(id="2")]), Found.ACCEPTED, ""),
    "failed since": (answer(200, [item(status={"type": "FAILED", "id": "FAILED.BLOCKED"})]), Found.ACCEPTED, ""),
    "not there": (answer(200, []), Found.ABSENT, ""),
    "unfiltered": (answer(200, [item(), item(userSuppliedId="x")]), Found.UNKNOWN, "unclear_answer"),
    "without a key": (answer(200, [item(userSuppliedId=None)]), Found.UNKNOWN, "unclear_answer"),
    "without an id": (answer(200, [item(id=None)]), Found.UNKNOWN, "unclear_answer"),
    "no message": (answer(200, ["x"]), Found.UNKNOWN, "unclear_answer"),
    "no list": (answer(200, {}), Found.UNKNOWN, "unclear_answer"),
    "nothing": (answer(200, None), Found.UNKNOWN, "unclear_answer"),
    "refused": (problem(400, "bad-request"), Found.UNKNOWN, "http_400"),
    "an error": (answer(502, []), Found.UNKNOWN, "http_502"),
}


def look_up(*answers):
    with FaultServer(in_turn(*answers)) as server:
        provider = bulksms(server.url)
        finding = provider.look_up(MESSAGE, since=SINCE, timeout_seconds=10)
        provider.close()
    return finding, server.requests


@pytest.mark.parametrize("case", CASES)
def test_look_up__messages_with_our_key__say_no_more_than_they_prove(case):
    reply, found, code = CASES[case]

    finding, [request] = look_up(reply)

    assert (finding.found, finding.error_code) == (found, code)
    assert target(request) == ("GET", "/v1/messages", {"filter": f"userSuppliedId={KEY}"})


@pytest.mark.parametrize("age", [timedelta(minutes=1), timedelta(days=2)])
def test_look_up__nothing_found_too_early_or_too_late__proves_nothing(age):
    finding, _ = look_up(answer(200, [], Date=http_date(SINCE + age)))

    assert finding.found is Found.UNKNOWN


def test_look_up__nobody_there__is_unknown():
    finding = bulksms(f"http://127.0.0.1:{closed_port()}").look_up(MESSAGE, since=SINCE, timeout_seconds=1)

    assert finding.error_code == "connect_refused"
