"""The sandbox adapter against a peer that fails in every way: the base for all HTTP adapters is tested through it."""

import pytest

from notifications.channel import Channel
from notifications.providers.base import Capabilities
from notifications.providers.sandbox import SandboxProvider
from notifications.verdict import Outcome
from tests.contracts.conformance import HttpAdapterConformance, answering, http_answer
from tests.support.fault_server import FaultServer


class TestSandboxProvider(HttpAdapterConformance):
    channel = Channel.EMAIL
    acceptance = http_answer(202, b'{"messageId": "m-1"}')

    def build(self, url):
        return SandboxProvider("sandbox", Capabilities(), url)

    @pytest.mark.parametrize(
        ("status", "body", "outcome", "code"),
        [
            (422, b'{"code": "recipient_rejected"}', Outcome.REJECTED, "recipient_rejected"),
            (400, b'{"code": "invalid_message"}', Outcome.REJECTED, "invalid_message"),
            (422, b'{"code": "something_new"}', Outcome.UNCONFIRMED, "no_proof"),
            (422, b'{"code": ["recipient_rejected"]}', Outcome.UNCONFIRMED, "no_proof"),
            (503, b'{"code": "not_accepted"}', Outcome.TEMPORARY, "not_accepted"),
            (503, b'["not_accepted"]', Outcome.UNCONFIRMED, "http_503"),
            (500, b'{"code": "not_accepted"}', Outcome.UNCONFIRMED, "http_500"),
            (404, b"{}", Outcome.PROVIDER_FAULT, "http_404"),
            (405, b"{}", Outcome.PROVIDER_FAULT, "http_405"),
            (415, b"{}", Outcome.PROVIDER_FAULT, "http_415"),
            (402, b"{}", Outcome.UNCONFIRMED, "no_proof"),
            (406, b"{}", Outcome.UNCONFIRMED, "no_proof"),
            (202, b'{"messageId": 7}', Outcome.UNCONFIRMED, "no_proof"),
            (202, b'{"messageId": ""}', Outcome.UNCONFIRMED, "no_proof"),
            (202, b'{"messageId": "\\ud800\\u0000"}', Outcome.UNCONFIRMED, "no_proof"),
            (200, b'{"messageId": "m-1"}', Outcome.UNCONFIRMED, "no_proof"),
            (202, b'{"messageId": "m-1"}', Outcome.ACCEPTED, ""),
        ],
    )
    def test_answer__of_the_vendor__has_its_verdict(self, status, body, outcome, code, message):
        with FaultServer(answering(http_answer(status, body))) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.outcome, verdict.error_code) == (outcome, code)

    def test_request__any_attempt__carries_the_notification_id_as_key(self, message):
        with FaultServer(answering(self.acceptance)) as server:
            self.send(server.url, message)

        head = server.requests[0].partition(b"\r\n\r\n")[0].decode()
        assert f"Idempotency-Key: {message.id}" in head.splitlines()
        assert head.startswith("POST /messages HTTP/1.1")
