"""The KudiSMS adapter against a peer that fails in every way, and that answers as others' programs expect."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest

from notifications.channel import Channel
from notifications.providers.sms.kudisms import CODES, KudiSmsProvider
from notifications.verdict import Outcome
from tests.support.fault_server import FaultServer
from tests.support.sms import BODY, MESSAGE, RECIPIENT, answer, body_of, http_date, in_turn, target

pytest.register_assert_rewrite("tests.contracts.conformance")

from tests.contracts.conformance import HttpAdapterConformance  # noqa: E402

DONE = {
    "status": "success",
    "error_code": "000",
    "cost": "4.5",
    "data": "kudi-1",
    "msg": "sent",
    "length": 4,
    "page": 1,
}
TAKEN = answer(200, DONE)


def kudisms(url):
    return KudiSmsProvider("kudisms", token="token", sender="Shop", url=url)


def send(*answers):
    with FaultServer(in_turn(*answers)) as server:
        provider = kudisms(server.url)
        verdict = provider.send(MESSAGE, timeout_seconds=10)
        provider.close()
    assert BODY not in repr(verdict)
    assert RECIPIENT not in repr(verdict)
    return verdict, server.requests


class TestKudiSmsProvider(HttpAdapterConformance):
    channel = Channel.SMS
    acceptance = TAKEN

    def build(self, url):
        return kudisms(url)


def refusal(code, status=200, **changes):
    return answer(status, {"status": "error", "error_code": code, "msg": f"{RECIPIENT} {BODY}"} | changes)


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (refusal("009"), Outcome.REJECTED, "009"),
        (refusal("104"), Outcome.REJECTED, "104"),
        (refusal("107"), Outcome.REJECTED, "107"),
        (refusal(107), Outcome.REJECTED, "107"),
        (refusal("107", status=400), Outcome.REJECTED, "107"),
        (refusal("109"), Outcome.PROVIDER_FAULT, "109"),
        (refusal("100"), Outcome.PROVIDER_FAULT, "100"),
        (refusal("188"), Outcome.PROVIDER_FAULT, "188"),
        (refusal("107", status=500), Outcome.UNCONFIRMED, "http_500"),
        (refusal("999"), Outcome.UNCONFIRMED, "no_proof"),
        (refusal("000"), Outcome.UNCONFIRMED, "no_proof"),
        (refusal(["107"]), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, {"status": "success", "error_code": "107"}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, {"status": "success"}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, {"status": "Success", "error_code": "000"}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(200, {"status": "success", "error_code": 0}), Outcome.UNCONFIRMED, "no_proof"),
        (answer(500, DONE), Outcome.UNCONFIRMED, "http_500"),
        (answer(400, DONE), Outcome.UNCONFIRMED, "no_proof"),
    ],
)
def test_answer__of_kudisms__has_its_verdict(reply, outcome, code):
    verdict, _ = send(reply)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)


@pytest.mark.parametrize(("data", "expected"), [("kudi-1", "kudi-1"), (None, str(MESSAGE.id)), ("", str(MESSAGE.id))])
def test_accepted__with_or_without_an_id__is_proved_by_status_and_code(data, expected):
    verdict, _ = send(answer(200, DONE | {"data": data}))

    assert (verdict.outcome, verdict.provider_message_id) == (Outcome.ACCEPTED, expected)


@pytest.mark.parametrize("code", CODES)
def test_code__of_the_table__never_passes_as_accepted_or_unknown(code):
    assert CODES[code][0] in (Outcome.REJECTED, Outcome.PROVIDER_FAULT)
    assert CODES[code][1]


def test_request__of_any_message__is_the_form_that_others_send():
    _, [request] = send(TAKEN)

    assert target(request) == ("POST", "/api/sms", {})
    assert parse_qs(body_of(request)) == {
        "token": ["token"],
        "senderID": ["Shop"],
        "recipients": ["4915112345678"],
        "message": [BODY],
        "gateway": ["2"],
    }


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_throttled__with_either_form_of_retry_after__carries_the_wish(form):
    now = datetime.now(UTC)
    wish = "30" if form == "seconds" else http_date(now + timedelta(seconds=30))

    verdict, _ = send(answer(429, {"status": "error"}, Retry_After=wish, Date=http_date(now)))

    assert verdict.throttled
    assert verdict.retry_after_seconds == pytest.approx(30, abs=1)
