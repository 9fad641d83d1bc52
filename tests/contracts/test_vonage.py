"""The Vonage adapter against a peer that fails in every way, and that answers as Vonage does."""

import base64
import json
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from notifications.channel import Channel
from notifications.providers.sms.vonage import CODES, VonageProvider
from notifications.providers.sms.vonage_credentials import Credentials
from notifications.verdict import Found, Outcome
from tests.support.fault_server import FaultServer, closed_port
from tests.support.peers import need
from tests.support.rsa_key import rsa_key, rsa_pem
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

APPLICATION = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
UUID_OF_VONAGE = "10aaaaaa-0000-4000-8000-000000000001"
TAKEN = answer(202, {"message_uuid": UUID_OF_VONAGE})
ACCOUNT = Credentials(account=("abcd1234", "secret"))


def vonage(url, **changes):
    settings = {"credentials": ACCOUNT, "sender": SENDER, "url": url, "reports_url": url}
    return VonageProvider("vonage", **settings | changes)


def problem(status, number, **more):
    kind = f"https://developer.vonage.com/api-errors/messages#{number}"
    return answer(status, {"type": kind, "title": "Oh", "detail": f"{RECIPIENT}: {BODY}", "instance": "i", **more})


def send(*answers, **settings):
    with FaultServer(in_turn(*answers)) as server:
        provider = vonage(server.url, **settings)
        verdict = provider.send(MESSAGE, timeout_seconds=10)
        provider.close()
    assert BODY not in repr(verdict)
    assert RECIPIENT not in repr(verdict)
    return verdict, server.requests


class TestVonageProvider(HttpAdapterConformance):
    channel = Channel.SMS
    acceptance = TAKEN

    def build(self, url):
        return vonage(url)


def invalid(*names):
    return problem(422, 1150, invalid_parameters=[{"name": name, "reason": BODY} for name in names])


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (invalid("to"), Outcome.REJECTED, "invalid_params"),
        (invalid("to", "from"), Outcome.REJECTED, "invalid_params"),
        (invalid("from"), Outcome.PROVIDER_FAULT, "invalid_params"),
        (problem(422, 1120), Outcome.PROVIDER_FAULT, "1120"),
        (problem(422, 1170), Outcome.REJECTED, "1170"),
        (problem(422, 9999), Outcome.UNCONFIRMED, "no_proof"),
        (problem(402, 1070), Outcome.PROVIDER_FAULT, "1070"),
        (answer(402, {"title": "low balance"}), Outcome.PROVIDER_FAULT, "http_402"),
        (
            answer(401, {"type": "https://developer.vonage.com/api-errors#unauthorized"}),
            Outcome.PROVIDER_FAULT,
            "http_401",
        ),
        (problem(429, 1000), Outcome.TEMPORARY, "1000"),
        (problem(500, 1030), Outcome.UNCONFIRMED, "http_500"),
        (problem(503, 1020), Outcome.UNCONFIRMED, "http_503"),
        (answer(202, {"message_uuid": ""}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(202, {"message_uuid": 7}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, {"message_uuid": UUID_OF_VONAGE}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(422, {"invalid_parameters": "to", "type": 7}), Outcome.UNCONFIRMED, "no_proof"),
        (TAKEN, Outcome.ACCEPTED, ""),
    ],
)
def test_answer__of_vonage__has_its_verdict(reply, outcome, code):
    verdict, _ = send(reply)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)


@pytest.mark.parametrize("code", CODES)
def test_code__of_the_table__never_passes_as_accepted_or_unknown(code):
    assert CODES[code][0] in (Outcome.REJECTED, Outcome.TEMPORARY, Outcome.PROVIDER_FAULT)
    assert CODES[code][1]


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_throttled__with_either_form_of_retry_after__carries_the_wish(form):
    now = datetime.now(UTC)
    wish = "30" if form == "seconds" else http_date(now + timedelta(seconds=30))

    verdict, _ = send(answer(429, {}, Retry_After=wish, Date=http_date(now)))

    assert verdict.throttled
    assert verdict.retry_after_seconds == pytest.approx(30, abs=1)


def test_request__of_the_account__carries_our_key():
    _, [request] = send(TAKEN)

    assert target(request) == ("POST", "/v1/messages", {})
    assert header_of(request, "Authorization") == "Basic " + base64.b64encode(b"abcd1234:secret").decode()
    assert json.loads(body_of(request)) == {
        "channel": "sms",
        "message_type": "text",
        "to": "4915112345678",
        "from": "14155550100",
        "text": BODY,
        "client_ref": str(MESSAGE.id),
        "sms": {"encoding_type": "auto"},
    }


def test_request__with_receipts__names_the_address():
    _, [request] = send(TAKEN, receipts_address="https://notify.example.com/receipts/vonage")

    assert json.loads(body_of(request))["webhook_url"] == "https://notify.example.com/receipts/vonage"


def test_request__of_an_application__is_signed_with_its_key():
    _, [request] = send(TAKEN, credentials=Credentials(application=(APPLICATION, rsa_key())))

    scheme, token = header_of(request, "Authorization").split(" ")
    claims = jwt.decode(token, rsa_key().public_key(), algorithms=["RS256"])
    assert scheme == "Bearer"
    assert claims["application_id"] == APPLICATION
    assert claims["exp"] - claims["iat"] == 900


def test_token__beside_that_of_vonages_own_library__has_the_same_form():
    theirs = need("vonage_jwt").JwtClient(APPLICATION, rsa_pem()).generate_application_jwt().decode()
    ours = Credentials(application=(APPLICATION, rsa_key())).authorization().removeprefix("Bearer ")

    assert jwt.get_unverified_header(ours) == jwt.get_unverified_header(theirs)
    our_claims, their_claims = (jwt.decode(t, rsa_key().public_key(), algorithms=["RS256"]) for t in (ours, theirs))
    assert {n: type(v) for n, v in our_claims.items()} == {n: type(v) for n, v in their_claims.items()}
    assert our_claims["exp"] - our_claims["iat"] == their_claims["exp"] - their_claims["iat"]


def test_credentials__shown__hide_the_secret():
    assert "secret" not in repr(ACCOUNT)


def record(**changes):
    return {"message_id": UUID_OF_VONAGE, "client_ref": str(MESSAGE.id), "to": "4915112345678"} | changes


def records(*found, status="SUCCESS", **headers):
    return answer(200, {"request_status": status, "records": list(found), "items_count": len(found)}, **headers)


OTHER = {"client_ref": "another"}
CASES = {
    "in the first product": ([records(record())], Found.ACCEPTED, ""),
    "in the second product": ([records(), records(record(), record(**OTHER))], Found.ACCEPTED, ""),
    "refused since": ([records(record(status="rejected"))], Found.ACCEPTED, ""),
    "by another name of the id": ([records(record(message_id=None, id="x1"))], Found.ACCEPTED, ""),
    "found in a list that is cut off": ([records(record(), status="TRUNCATED")], Found.ACCEPTED, ""),
    "in neither": ([records(), records(record(**OTHER))], Found.ABSENT, ""),
    "to somebody else without a key": ([records(record(client_ref="", to="1415")), records()], Found.ABSENT, ""),
    "without a key": ([records(record(client_ref=None))], Found.UNKNOWN, "unclear_records"),
    "without a key in the second": ([records(), records(record(client_ref=""))], Found.UNKNOWN, "unclear_records"),
    "without an id": ([records(record(message_id=""))], Found.UNKNOWN, "unclear_records"),
    "cut off": ([records(status="TRUNCATED")], Found.UNKNOWN, "unclear_records"),
    "cut off in the second": ([records(), records(status="TRUNCATED")], Found.UNKNOWN, "unclear_records"),
    "without a status": ([answer(200, {"records": []})], Found.UNKNOWN, "unclear_records"),
    "without records": ([answer(200, {"request_status": "SUCCESS"})], Found.UNKNOWN, "unclear_answer"),
    "a record that is none": ([records("x")], Found.UNKNOWN, "unclear_answer"),
    "refused": ([answer(401, {})], Found.UNKNOWN, "http_401"),
    "only the first product": ([records(), answer(403, {})], Found.UNKNOWN, "http_403"),
    "lost": ([records()], Found.UNKNOWN, "connection_lost"),
}


def look_up(*answers, **settings):
    with FaultServer(in_turn(*answers)) as server:
        provider = vonage(server.url, **settings)
        finding = provider.look_up(MESSAGE, since=SINCE, timeout_seconds=10)
        provider.close()
    return finding, server.requests


@pytest.mark.parametrize("case", CASES)
def test_look_up__records__say_no_more_than_they_prove(case):
    answers, found, code = CASES[case]

    finding, _ = look_up(*answers)

    assert (finding.found, finding.error_code) == (found, code)


def test_look_up__request__spans_less_than_a_day_and_one_recipient():
    _, requests = look_up(records(), records())

    queries = [target(request)[2] for request in requests]
    start = (SINCE - timedelta(seconds=120)).strftime("%Y-%m-%dT%H:%M:%SZ")
    shared = {"account_id": "abcd1234", "direction": "outbound", "to": "4915112345678", "date_start": start}
    assert queries == [shared | {"product": product} for product in ("MESSAGES", "SMS")]
    assert {target(request)[:2] for request in requests} == {("GET", "/v2/reports/records")}


@pytest.mark.parametrize("age", [timedelta(minutes=5), timedelta(days=2)])
def test_look_up__nothing_found_too_early_or_too_late__proves_nothing(age):
    finding, _ = look_up(*[records(Date=http_date(SINCE + age))] * 2)

    assert finding.found is Found.UNKNOWN


def test_look_up__nobody_there__is_unknown():
    finding = vonage(f"http://127.0.0.1:{closed_port()}").look_up(MESSAGE, since=SINCE, timeout_seconds=1)

    assert finding.error_code == "connect_refused"


def test_look_up__without_the_accounts_key__is_unknown():
    finding, requests = look_up(credentials=Credentials(application=(APPLICATION, rsa_key())))

    assert (finding.found, requests) == (Found.UNKNOWN, [])
