"""The Mailgun adapter's sends: against a peer that fails in every way, and the vendor's answers one by one."""

import base64
import json
from urllib.parse import parse_qsl

import pytest

from notifications.providers.email.mailgun import MailgunProvider
from notifications.verdict import Outcome
from tests.contracts.conformance import http_answer
from tests.contracts.email_vendor import SENDER, EmailVendorConformance, Sent, party


def said(text):
    return json.dumps({"message": text}).encode()


class TestMailgunProvider(EmailVendorConformance):
    acceptance = http_answer(200, b'{"id": "<key@acme.example>", "message": "Queued. Thank you."}')

    def build(self, url):
        return MailgunProvider("mailgun", url, "mg.acme.example", "key-secret", SENDER)

    def read(self, body):
        form = dict(parse_qsl(body.decode("ascii"), strict_parsing=True))
        return Sent(
            party(form["from"]),
            form["to"],
            form["subject"],
            form["text"],
            form.get("html", ""),
            party(form.get("h:Reply-To", "")),
            form["v:notifyq_id"],
        )

    def test_request__any__names_the_domain_the_key_of_the_account_and_our_message_id(self, message):
        head, body = self.request(message)

        assert head.startswith("POST /v3/mg.acme.example/messages HTTP/1.1")
        assert f"Authorization: Basic {base64.b64encode(b'api:key-secret').decode()}" in head.splitlines()
        assert dict(parse_qsl(body.decode()))["h:Message-Id"] == f"<{message.id}@acme.example>"

    @pytest.mark.parametrize(
        ("status", "body", "outcome", "code"),
        [
            (400, said("'to' parameter is not a valid address. please check documentation"), Outcome.REJECTED, ""),
            (400, said("to parameter is not a valid address: ada.private@example.org"), Outcome.REJECTED, ""),
            (400, said("'from' parameter is not a valid address."), Outcome.PROVIDER_FAULT, "invalid_sender"),
            (400, said("from parameter is not a valid address."), Outcome.PROVIDER_FAULT, "invalid_sender"),
            (400, said("Domain x is not allowed to send: unverified"), Outcome.PROVIDER_FAULT, "domain_not_allowed"),
            (400, said("Sandbox subdomains are for test purposes only."), Outcome.PROVIDER_FAULT, "sandbox_domain"),
            (400, said("Domain is disabled"), Outcome.PROVIDER_FAULT, "account_disabled"),
            (400, said("something new about ada.private@example.org"), Outcome.TEMPORARY, "http_400"),
            (400, b"{}", Outcome.UNCONFIRMED, "no_proof"),
            (400, b'{"message": ["to parameter"]}', Outcome.UNCONFIRMED, "no_proof"),
            (401, said("Invalid private key"), Outcome.PROVIDER_FAULT, "http_401"),
            (401, b"Forbidden", Outcome.PROVIDER_FAULT, "http_401"),
            (402, said("Please activate your Mailgun account"), Outcome.PROVIDER_FAULT, "http_402"),
            (402, b"", Outcome.PROVIDER_FAULT, "http_402"),
            (405, b"", Outcome.PROVIDER_FAULT, "http_405"),
            (409, said("something"), Outcome.UNCONFIRMED, "no_proof"),
            (403, said("Domain x is not allowed to send"), Outcome.PROVIDER_FAULT, "http_403"),
            (404, said("Domain not found: mg.acme.example"), Outcome.PROVIDER_FAULT, "http_404"),
            (413, said("Attachment size is too big"), Outcome.REJECTED, "http_413"),
            (500, said("Internal Server Error"), Outcome.UNCONFIRMED, "http_500"),
            (200, b"Mailgun Magnificent API", Outcome.UNCONFIRMED, "no_proof"),
            (200, b'{"id": "<a@b>", "message": "Hello"}', Outcome.UNCONFIRMED, "no_proof"),
            (200, b'{"id": "", "message": "Queued. Thank you."}', Outcome.UNCONFIRMED, "no_proof"),
            (200, b'{"message": "Queued. Thank you."}', Outcome.UNCONFIRMED, "no_proof"),
            (202, b'{"id": "<a@b>", "message": "Queued. Thank you."}', Outcome.UNCONFIRMED, "no_proof"),
            (200, b'{"id": "<a@b>", "message": "Queued. Thank you."}', Outcome.ACCEPTED, ""),
        ],
    )
    def test_answer__of_the_vendor__has_its_verdict(self, status, body, outcome, code, message):
        code = code or ("invalid_recipient" if outcome is Outcome.REJECTED else "")

        assert self.verdict_on(message, status, body) == (outcome, code)
