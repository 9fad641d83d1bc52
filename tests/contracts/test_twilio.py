"""The Twilio adapter against a peer that fails in every way, and that answers as Twilio does."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest

from notifications.channel import Channel
from notifications.providers.sms.twilio import CODES, TwilioProvider
from notifications.verdict import Outcome
from tests.support.fault_server import FaultServer
from tests.support.sms import BODY, MESSAGE, RECIPIENT, SENDER, answer, body_of, header_of, http_date, in_turn, target

pytest.register_assert_rewrite("tests.contracts.conformance")

from tests.contracts.conformance import HttpAdapterConformance  # noqa: E402

ACCOUNT = "AC" + "0" * 32
SID = "SM" + "9" * 32
PATH = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
TAKEN = answer(201, {"sid": SID, "status": "queued", "body": BODY, "to": RECIPIENT})


def twilio(url, **changes):
    settings = {"account_sid": ACCOUNT, "auth": (ACCOUNT, "token"), "sender": SENDER, "url": url}
    return TwilioProvider("twilio", **settings | changes)


def refusal(status, code, **headers):
    message = f"The 'To' number {RECIPIENT} is not a valid phone number: {BODY}"
    more = f"https://www.twilio.com/docs/errors/{code}"
    return answer(status, {"code": code, "message": message, "more_info": more, "status": status}, **headers)


def send(*answers, message=MESSAGE, **settings):
    with FaultServer(in_turn(*answers)) as server:
        provider = twilio(server.url, **settings)
        verdict = provider.send(message, timeout_seconds=10)
        provider.close()
    assert BODY not in repr(verdict)
    assert RECIPIENT not in repr(verdict)
    return verdict, server.requests


class TestTwilioProvider(HttpAdapterConformance):
    channel = Channel.SMS
    acceptance = TAKEN

    def build(self, url):
        return twilio(url)


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (400, 21211, Outcome.REJECTED),
        (400, 21610, Outcome.REJECTED),
        (403, 21408, Outcome.REJECTED),
        (400, 21612, Outcome.REJECTED),
        (400, 21614, Outcome.REJECTED),
        (400, 21617, Outcome.REJECTED),
        (400, 21635, Outcome.REJECTED),
        (401, 20003, Outcome.PROVIDER_FAULT),
        (400, 21606, Outcome.PROVIDER_FAULT),
        (400, 21608, Outcome.PROVIDER_FAULT),
        (429, 63038, Outcome.PROVIDER_FAULT),
        (429, 20429, Outcome.TEMPORARY),
        (400, 21611, Outcome.TEMPORARY),
        (400, 29999, Outcome.TEMPORARY),
    ],
)
def test_refusal__with_a_code_of_twilio__has_its_verdict(status, code, outcome):
    verdict, _ = send(refusal(status, code))

    assert (verdict.outcome, verdict.error_code) == (outcome, str(code))
    assert verdict.error_message


@pytest.mark.parametrize("code", CODES)
def test_code__of_the_table__never_passes_as_accepted_or_unknown(code):
    outcome, text = CODES[code]

    assert outcome in (Outcome.REJECTED, Outcome.TEMPORARY, Outcome.PROVIDER_FAULT)
    assert text


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (answer(201, {"sid": "SM123", "status": "queued"}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, {"sid": "AC" + "9" * 32}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, {"sid": None}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(201, [{"sid": SID}]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, {"sid": SID}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(400, {"code": "21211", "message": "x"}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(400, {"code": True}), Outcome.UNCONFIRMED, "no_proof"),
        (refusal(500, 21211), Outcome.UNCONFIRMED, "http_500"),
        (refusal(503, 20503), Outcome.UNCONFIRMED, "http_503"),
        (refusal(404, 20404), Outcome.PROVIDER_FAULT, "http_404"),
        (refusal(403, 29999), Outcome.PROVIDER_FAULT, "http_403"),
        (answer(201, {"sid": "MM" + "a" * 32}), Outcome.ACCEPTED, ""),
    ],
)
def test_answer__without_proof_of_either__is_no_more_than_it_says(reply, outcome, code):
    verdict, _ = send(reply)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_throttled__with_either_form_of_retry_after__carries_the_wish(form):
    now = datetime.now(UTC)
    wish = "30" if form == "seconds" else http_date(now + timedelta(seconds=30))

    verdict, _ = send(refusal(429, 20429, Retry_After=wish, Date=http_date(now)))

    assert verdict.throttled
    assert verdict.retry_after_seconds == pytest.approx(30, abs=1)


def test_request__without_receipts__is_the_form_that_twilio_wants():
    verdict, [request] = send(TAKEN)

    assert (verdict.outcome, verdict.provider_message_id) == (Outcome.ACCEPTED, SID)
    assert target(request) == ("POST", PATH, {})
    assert parse_qs(body_of(request)) == {"To": [RECIPIENT], "Body": [BODY], "From": [SENDER]}
    assert header_of(request, "Authorization") == "Basic " + base64.b64encode(f"{ACCOUNT}:token".encode()).decode()


def test_request__with_receipts__names_the_address_with_our_key():
    address = "https://notify.example.com/receipts/twilio:eu"

    _, [request] = send(TAKEN, receipts_address=address)

    assert parse_qs(body_of(request))["StatusCallback"] == [f"{address}?key={MESSAGE.id}"]


def test_request__from_a_messaging_service__names_it_as_one():
    service = "MG" + "f" * 32

    _, [request] = send(TAKEN, sender=service)

    form = parse_qs(body_of(request))
    assert form["MessagingServiceSid"] == [service]
    assert "From" not in form


def test_request__second_attempt__is_the_same():
    (_, [first]), (_, [second]) = send(TAKEN), send(TAKEN, message=replace(MESSAGE, attempt_number=2))

    assert body_of(first) == body_of(second)
