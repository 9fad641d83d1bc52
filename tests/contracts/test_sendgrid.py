"""The SendGrid adapter's sends: against a peer that fails in every way, and the vendor's answers one by one."""

import json
import time
from datetime import UTC, datetime

import pytest

from notifications.providers.email.sendgrid import SendGridProvider
from notifications.verdict import Outcome
from tests.contracts.conformance import answering, http_answer
from tests.contracts.email_vendor import SENDER, EmailVendorConformance, Sent, http_date
from tests.support.fault_server import FaultServer


def errors(*fields):
    """In SendGrid's form; the text repeats the recipient, as its own do."""
    return json.dumps({"errors": [{"message": "ada.private@example.org is bad", "field": f} for f in fields]}).encode()


class TestSendGridProvider(EmailVendorConformance):
    acceptance = http_answer(202, X_Message_Id="Xj5LmNkWSOqRbdvOpR34BA")

    def build(self, url):
        return SendGridProvider("sendgrid", url, "SG.secret", SENDER)

    def read(self, body):
        document = json.loads(body)
        (addressed,) = document["personalizations"]
        parts = {part["type"]: part["value"] for part in document["content"]}
        pairs = [(p.get("name", ""), p.get("email", "")) for p in (document["from"], document.get("reply_to", {}))]
        return Sent(
            pairs[0],
            addressed["to"][0]["email"],
            document["subject"],
            parts["text/plain"],
            parts.get("text/html", ""),
            pairs[1],
            addressed["custom_args"]["notifyq_id"],
        )

    def test_request__any__is_a_send_with_the_key_of_the_account_and_a_stable_message_id(self, message):
        head, body = self.request(message)

        assert head.startswith("POST /v3/mail/send HTTP/1.1")
        assert "Authorization: Bearer SG.secret" in head.splitlines()
        assert json.loads(body)["headers"]["Message-ID"] == f"<{message.id}@acme.example>"

    @pytest.mark.parametrize(
        ("status", "body", "outcome", "code"),
        [
            (400, errors("personalizations.0.to.0.email"), Outcome.REJECTED, "http_400"),
            (400, errors("content.0.value", "subject"), Outcome.REJECTED, "http_400"),
            (400, errors("reply_to.email"), Outcome.REJECTED, "http_400"),
            (400, errors("from.name"), Outcome.REJECTED, "http_400"),
            (400, errors("from.email"), Outcome.PROVIDER_FAULT, "http_400"),
            (400, errors("personalizations", "from"), Outcome.PROVIDER_FAULT, "http_400"),
            (400, errors("fromage"), Outcome.TEMPORARY, "http_400"),
            (400, errors(None), Outcome.TEMPORARY, "http_400"),
            (400, errors("subject ada.private@example.org"), Outcome.TEMPORARY, "http_400"),
            (400, b'{"errors": []}', Outcome.UNCONFIRMED, "no_proof"),
            (400, b'{"errors": ["x"]}', Outcome.UNCONFIRMED, "no_proof"),
            (400, b"<html>bad gateway</html>", Outcome.UNCONFIRMED, "no_proof"),
            (413, errors(None), Outcome.REJECTED, "http_413"),
            (401, errors(None), Outcome.PROVIDER_FAULT, "http_401"),
            (403, errors("from"), Outcome.PROVIDER_FAULT, "http_403"),
            (404, errors(None), Outcome.PROVIDER_FAULT, "http_404"),
            (405, errors(None), Outcome.PROVIDER_FAULT, "http_405"),
            (406, b"", Outcome.PROVIDER_FAULT, "http_406"),
            (415, b"", Outcome.PROVIDER_FAULT, "http_415"),
            (451, errors(None), Outcome.PROVIDER_FAULT, "http_451"),
            (402, errors(None), Outcome.UNCONFIRMED, "no_proof"),
            (500, errors("subject"), Outcome.UNCONFIRMED, "http_500"),
            (202, b"", Outcome.UNCONFIRMED, "no_proof"),
        ],
    )
    def test_answer__of_the_vendor__has_its_verdict(self, status, body, outcome, code, message):
        assert self.verdict_on(message, status, body) == (outcome, code)

    @pytest.mark.parametrize(
        ("status", "message_id", "outcome"),
        [
            (202, "", Outcome.UNCONFIRMED),
            (202, "x" * 300, Outcome.UNCONFIRMED),
            (200, "id-1", Outcome.UNCONFIRMED),
            (202, "id-1", Outcome.ACCEPTED),
        ],
    )
    def test_proof__is_202_with_a_message_id(self, status, message_id, outcome, message):
        assert self.verdict_on(message, status, b"", X_Message_Id=message_id)[0] is outcome

    @pytest.mark.parametrize(("reset_in", "wish"), [(30, 30), (-5, 0), (9999, 3600)])
    def test_throttled__with_the_instant_of_the_reset__carries_the_wish(self, reset_in, wish, message):
        now = int(time.time())
        headers = {"X_RateLimit_Reset": str(now + reset_in), "Date": http_date(datetime.fromtimestamp(now, UTC))}
        with FaultServer(answering(http_answer(429, errors(None), **headers))) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.outcome, verdict.throttled, verdict.retry_after_seconds) == (Outcome.TEMPORARY, True, wish)
