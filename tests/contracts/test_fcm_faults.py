"""The FCM adapter against a peer that fails in every way, and what each of FCM's codes means."""

import json

import pytest

from notifications.channel import Channel
from notifications.providers.push.fcm import FcmProvider
from notifications.providers.push.google_account import parse_service_account
from notifications.providers.push.google_token import Token
from notifications.verdict import Outcome, Verdict

pytest.register_assert_rewrite("tests.contracts.conformance")

from tests.contracts.conformance import HttpAdapterConformance, answering, http_answer  # noqa: E402
from tests.support.fault_server import FaultServer  # noqa: E402
from tests.support.push_accounts import service_account  # noqa: E402

FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
NAME = "projects/shop-1/messages/0:1500415314455276%31bd1c9631bd1c96"


class FixedTokens:
    """One access token; says `renewable` when it is refused."""

    def __init__(self, renewable=False):
        self.renewable = renewable

    def get(self, timeout_seconds):
        return Token("access-1", 0.0, 1e12, 1e12)

    def refused(self, token):
        return self.renewable


def a_provider(url, tokens=None):
    account = parse_service_account(json.dumps(service_account()))
    return FcmProvider("fcm", account, "shop-1", url, tokens or FixedTokens())


def error(status, code="", *, general="", field=""):
    details = [{"@type": FCM_ERROR, "errorCode": code}] if code else []
    if field:
        details.insert(0, {"@type": BAD_REQUEST, "fieldViolations": [{"field": field, "description": "private"}]})
    body = {"error": {"code": status, "message": "private words", "status": general, "details": details}}
    return json.dumps(body).encode()


ANSWERS = [
    (404, error(404, "UNREGISTERED", general="NOT_FOUND"), Outcome.REJECTED, "unregistered"),
    (404, error(404, general="NOT_FOUND"), Outcome.PROVIDER_FAULT, "http_404"),  # no such project
    (400, error(400, "INVALID_ARGUMENT", field="message.token"), Outcome.REJECTED, "device_token_invalid"),
    (400, error(400, "INVALID_ARGUMENT", field="message.fid"), Outcome.REJECTED, "device_token_invalid"),
    (400, error(400, "INVALID_ARGUMENT", field="message.data[0].value"), Outcome.REJECTED, "invalid_argument"),
    (400, error(400, "INVALID_ARGUMENT"), Outcome.REJECTED, "invalid_argument"),
    (400, error(400, general="INVALID_ARGUMENT"), Outcome.REJECTED, "invalid_argument"),
    (400, error(400, "UNREGISTERED"), Outcome.UNCONFIRMED, "no_proof"),  # under another status it proves nothing
    (400, error(400, "SOMETHING_NEW"), Outcome.UNCONFIRMED, "no_proof"),
    (403, error(403, "SENDER_ID_MISMATCH"), Outcome.REJECTED, "device_token_of_other_app"),
    (403, error(403, general="PERMISSION_DENIED"), Outcome.PROVIDER_FAULT, "http_403"),
    (401, error(401, "THIRD_PARTY_AUTH_ERROR"), Outcome.PROVIDER_FAULT, "third_party_auth_error"),
    (401, error(401, general="UNAUTHENTICATED"), Outcome.PROVIDER_FAULT, "http_401"),
    (429, error(429, "QUOTA_EXCEEDED"), Outcome.TEMPORARY, "quota_exceeded"),
    (503, error(503, "UNAVAILABLE"), Outcome.UNCONFIRMED, "unavailable"),
    (503, error(503, general="UNAVAILABLE"), Outcome.UNCONFIRMED, "unavailable"),
    (500, error(500, "INTERNAL"), Outcome.UNCONFIRMED, "internal"),
    (500, b'{"error": {"details": [7, {"@type": 1}], "status": ["INTERNAL"]}}', Outcome.UNCONFIRMED, "http_500"),
    (400, b'{"error": {"details": {"@type": "x"}, "status": null}}', Outcome.UNCONFIRMED, "no_proof"),
    (400, b'{"error": "INVALID_ARGUMENT"}', Outcome.UNCONFIRMED, "no_proof"),
    (200, b'{"name": "projects/shop-1/messages/"}', Outcome.UNCONFIRMED, "no_proof"),
    (200, b'{"name": "fine"}', Outcome.UNCONFIRMED, "no_proof"),
    (201, json.dumps({"name": NAME}).encode(), Outcome.UNCONFIRMED, "no_proof"),
    (200, json.dumps({"name": NAME}).encode(), Outcome.ACCEPTED, ""),
]


class TestFcmProvider(HttpAdapterConformance):
    channel = Channel.PUSH
    acceptance = http_answer(200, json.dumps({"name": NAME}).encode())

    def build(self, url):
        return a_provider(url)

    @pytest.mark.parametrize(("status", "body", "outcome", "code"), ANSWERS)
    def test_answer__of_the_vendor__has_its_verdict(self, status, body, outcome, code, message):
        with FaultServer(answering(http_answer(status, body, Retry_After="9"))) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.outcome, verdict.error_code) == (outcome, code)
        assert "private" not in repr(verdict)
        expected = 9 if outcome in (Outcome.TEMPORARY, Outcome.UNCONFIRMED) and status >= 429 else None
        assert verdict.retry_after_seconds == expected

    def test_quota__used_up_without_retry_after__waits_a_minute(self, message):
        with FaultServer(answering(http_answer(429, error(429, "QUOTA_EXCEEDED")))) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.retry_after_seconds, verdict.throttled) == (60.0, True)

    def test_request__any__goes_to_the_project_with_the_token(self, message):
        with FaultServer(answering(self.acceptance)) as server:
            verdict, _ = self.send(server.url, message)

        head = server.requests[0].partition(b"\r\n\r\n")[0].decode()
        assert head.startswith("POST /v1/projects/shop-1/messages:send HTTP/1.1")
        assert "Authorization: Bearer access-1" in head.splitlines()
        assert verdict.provider_message_id == NAME

    @pytest.mark.parametrize("code", ["", "THIRD_PARTY_AUTH_ERROR"])
    def test_access_token__refused_after_a_while__is_tried_anew(self, code, message):
        with FaultServer(answering(http_answer(401, error(401, code)))) as server:
            verdict = a_provider(server.url, FixedTokens(renewable=True)).send(message, timeout_seconds=5)

        assert verdict.outcome is (Outcome.PROVIDER_FAULT if code else Outcome.TEMPORARY)

    def test_access_token__none_to_be_had__is_the_verdict_and_nothing_is_sent(self, message):
        class NoTokens(FixedTokens):
            def get(self, timeout_seconds):
                return Verdict.temporary("token_http_503")

        with FaultServer(answering(self.acceptance)) as server:
            verdict = a_provider(server.url, NoTokens()).send(message, timeout_seconds=5)

        assert (verdict.outcome, verdict.error_code) == (Outcome.TEMPORARY, "token_http_503")
        assert server.connections == 0
