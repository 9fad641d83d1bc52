"""The SES adapter's sends: against a peer that fails in every way, and the vendor's answers one by one."""

import json
from dataclasses import replace
from email.header import decode_header, make_header

import botocore.session
import pytest
from botocore.credentials import Credentials
from botocore.validate import ParamValidator

from notifications.providers.email.ses import SesProvider
from notifications.providers.email.ses_signing import Signer
from notifications.verdict import Outcome
from tests.contracts.conformance import answering, http_answer
from tests.contracts.email_vendor import SENDER, EmailVendorConformance, Sent, party
from tests.support.fault_server import FaultServer


def said(text):
    return json.dumps({"message": text}).encode()


def named(text):
    """A mailbox whose name may be in encoded words."""
    name, address = party(text)
    assert text.isascii()
    return str(make_header(decode_header(name))), address


class TestSesProvider(EmailVendorConformance):
    acceptance = http_answer(200, b'{"MessageId": "010001"}')

    def build(self, url):
        return SesProvider("ses", url, Signer(Credentials("AKID", "secret"), "eu-west-1"), SENDER, "events")

    def read(self, body):
        document = json.loads(body)
        simple = document["Content"]["Simple"]
        (recipient,) = document["Destination"]["ToAddresses"]
        return Sent(
            named(document["FromEmailAddress"]),
            recipient,
            simple["Subject"]["Data"],
            simple["Body"]["Text"]["Data"],
            simple["Body"].get("Html", {"Data": ""})["Data"],
            named(next(iter(document.get("ReplyToAddresses", [""])))),
            {tag["Name"]: tag["Value"] for tag in document["EmailTags"]}["notifyq_id"],
        )

    def test_request__any__is_signed_for_the_region_and_names_the_configuration_set(self, message):
        head, body = self.request(message)

        assert head.startswith("POST /v2/email/outbound-emails HTTP/1.1")
        assert "Authorization: AWS4-HMAC-SHA256 Credential=AKID/" in head
        assert "/eu-west-1/ses/aws4_request, SignedHeaders=content-type;host;x-amz-date," in head
        assert json.loads(body)["ConfigurationSetName"] == "events"

    def test_request__everything_given__is_what_amazons_own_description_asks_for(self, message):
        _, body = self.request(replace(message, html_body="<p>b</p>", reply_to="help@acme.example"))
        described = botocore.session.Session().get_service_model("sesv2").operation_model("SendEmail").input_shape

        assert ParamValidator().validate(json.loads(body), described).generate_report() == ""

    @pytest.mark.parametrize(
        ("status", "error", "text", "outcome"),
        [
            (400, "MessageRejected", "Illegal content", Outcome.REJECTED),
            (400, "BadRequestException", "Missing final '@domain'", Outcome.REJECTED),
            (400, "MessageRejected", "Email address is not verified: ada.private@example.org", Outcome.PROVIDER_FAULT),
            (400, "MailFromDomainNotVerifiedException", "", Outcome.PROVIDER_FAULT),
            (400, "AccountSuspendedException", "", Outcome.PROVIDER_FAULT),
            (400, "SendingPausedException", "", Outcome.PROVIDER_FAULT),
            (400, "LimitExceededException", "", Outcome.PROVIDER_FAULT),
            (404, "NotFoundException", "Configuration set <events> does not exist.", Outcome.PROVIDER_FAULT),
            (403, "AccessDeniedException", "", Outcome.PROVIDER_FAULT),
            (403, "InvalidSignatureException", "", Outcome.PROVIDER_FAULT),
            (403, "ExpiredTokenException", "", Outcome.PROVIDER_FAULT),
            (429, "TooManyRequestsException", "", Outcome.TEMPORARY),
            (400, "ThrottlingException", "Maximum sending rate exceeded.", Outcome.TEMPORARY),
        ],
    )
    def test_error__of_the_vendor__has_its_verdict(self, status, error, text, outcome, message):
        expected = (outcome, error)

        assert self.verdict_on(message, status, said(text), X_Amzn_ErrorType=error) == expected
        assert self.verdict_on(message, status, said(text), X_Amzn_ErrorType=f"{error}:http://x.example/") == expected
        body = json.dumps({"__type": f"com.amazonaws.sesv2#{error}", "message": text}).encode()
        assert self.verdict_on(message, status, body) == expected

    @pytest.mark.parametrize(
        ("status", "body", "outcome", "code"),
        [
            (400, said("no type"), Outcome.UNCONFIRMED, "no_proof"),
            (400, b'{"__type": "SomethingNew"}', Outcome.UNCONFIRMED, "no_proof"),
            (400, b'{"__type": ["MessageRejected"]}', Outcome.UNCONFIRMED, "no_proof"),
            (500, b'{"__type": "MessageRejected"}', Outcome.UNCONFIRMED, "http_500"),
            (503, b'{"__type": "ThrottlingException"}', Outcome.UNCONFIRMED, "http_503"),
            (200, b'{"MessageId": ""}', Outcome.UNCONFIRMED, "no_proof"),
            (202, b'{"MessageId": "1"}', Outcome.UNCONFIRMED, "no_proof"),
        ],
    )
    def test_answer__without_a_known_meaning__is_unconfirmed(self, status, body, outcome, code, message):
        assert self.verdict_on(message, status, body) == (outcome, code)

    def test_daily_quota__used_up__asks_for_a_longer_pause(self, message):
        answer = http_answer(400, said("Daily message quota exceeded."), X_Amzn_ErrorType="ThrottlingException")
        with FaultServer(answering(answer)) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.throttled, verdict.retry_after_seconds) == (True, 600)
