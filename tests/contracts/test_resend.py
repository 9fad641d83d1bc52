"""The Resend adapter's sends: against a peer that fails in every way, and the vendor's answers one by one."""

import json

import pytest

from notifications.providers.email.resend import ResendProvider
from notifications.verdict import Outcome
from tests.contracts.conformance import answering, http_answer
from tests.contracts.email_vendor import SENDER, EmailVendorConformance, Sent, party
from tests.support.fault_server import FaultServer


def error(status, name, text="ada.private@example.org is bad"):
    return json.dumps({"statusCode": status, "name": name, "message": text}).encode()


class TestResendProvider(EmailVendorConformance):
    acceptance = http_answer(200, b'{"id": "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}')

    def build(self, url):
        return ResendProvider("resend", url, "re_secret", SENDER)

    def read(self, body):
        document = json.loads(body)
        (recipient,) = document["to"]
        return Sent(
            party(document["from"]),
            recipient,
            document["subject"],
            document["text"],
            document.get("html", ""),
            party(document.get("reply_to", "")),
            {tag["name"]: tag["value"] for tag in document["tags"]}["notifyq_id"],
        )

    def test_request__any__carries_the_notification_id_as_key(self, message):
        head, _ = self.request(message)

        assert head.startswith("POST /emails HTTP/1.1")
        assert {f"Idempotency-Key: {message.id}", "Authorization: Bearer re_secret"} <= set(head.splitlines())

    @pytest.mark.parametrize(
        ("status", "name", "text", "outcome", "code"),
        [
            (400, "validation_error", "Invalid `to` field.", Outcome.REJECTED, None),
            (422, "validation_error", "Invalid `to` field.", Outcome.REJECTED, None),
            (422, "missing_required_field", "Missing `subject` field.", Outcome.REJECTED, None),
            (422, "invalid_parameter", "", Outcome.REJECTED, None),
            (422, "validation_error", "Invalid `from` field.", Outcome.PROVIDER_FAULT, None),
            (400, "validation_error", "API key is invalid", Outcome.PROVIDER_FAULT, None),
            (401, "validation_error", "API key is invalid", Outcome.PROVIDER_FAULT, None),
            (403, "validation_error", "The acme.example domain is not verified.", Outcome.PROVIDER_FAULT, None),
            (403, "validation_error", "You can only send testing emails to ada.private", Outcome.PROVIDER_FAULT, None),
            (401, "missing_api_key", "", Outcome.PROVIDER_FAULT, None),
            (401, "restricted_api_key", "", Outcome.PROVIDER_FAULT, None),
            (403, "invalid_api_key", "", Outcome.PROVIDER_FAULT, None),
            (422, "invalid_from_address", "", Outcome.PROVIDER_FAULT, None),
            (404, "not_found", "", Outcome.PROVIDER_FAULT, None),
            (405, "method_not_allowed", "", Outcome.PROVIDER_FAULT, None),
            (429, "daily_quota_exceeded", "", Outcome.PROVIDER_FAULT, None),
            (429, "monthly_quota_exceeded", "", Outcome.PROVIDER_FAULT, None),
            (429, "rate_limit_exceeded", "", Outcome.TEMPORARY, "throttled"),
            (409, "concurrent_idempotent_requests", "", Outcome.UNCONFIRMED, None),
            (409, "invalid_idempotent_request", "", Outcome.UNCONFIRMED, None),
            (409, "something_new", "", Outcome.UNCONFIRMED, "no_proof"),
            (422, ["validation_error"], "", Outcome.UNCONFIRMED, "no_proof"),
            (451, "security_error", "", Outcome.UNCONFIRMED, "no_proof"),
            (500, "validation_error", "Invalid `to` field.", Outcome.UNCONFIRMED, "http_500"),
            (500, "application_error", "", Outcome.UNCONFIRMED, "http_500"),
        ],
    )
    def test_error__of_the_vendor__has_its_verdict(self, status, name, text, outcome, code, message):
        assert self.verdict_on(message, status, error(status, name, text)) == (outcome, code or name)

    @pytest.mark.parametrize("body", [b'{"id": ""}', b'{"id": 7}', b'{"object": "email"}', b'["id"]'])
    def test_success__without_an_id__is_unconfirmed(self, body, message):
        assert self.verdict_on(message, 200, body) == (Outcome.UNCONFIRMED, "no_proof")

    def test_conflict__first_request_under_way__keeps_the_wish_to_wait(self, message):
        answer = http_answer(409, error(409, "concurrent_idempotent_requests"), Retry_After="2")
        with FaultServer(answering(answer)) as server:
            verdict, _ = self.send(server.url, message)

        assert verdict.retry_after_seconds == 2
