"""What every adapter that hands e-mail to a vendor over HTTP has to get right, besides what any HTTP adapter has to.

Subclass `EmailVendorConformance` as `Test…`, in the manner of `conformance`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parseaddr
from typing import Any

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.email.mailbox import Mailbox
from notifications.verdict import Outcome
from tests.contracts.conformance import HttpAdapterConformance, answering, http_answer
from tests.support.fault_server import FaultServer

SENDER = Mailbox("shop", "acme.example", "Acme")


@dataclass(frozen=True)
class Sent:
    """What a request says, in one form for all vendors. The parties are pairs of name and address."""

    sender: tuple[str, str]
    recipient: str
    subject: str
    text: str
    html: str
    reply_to: tuple[str, str]
    key: str


def party(text: str) -> tuple[str, str]:
    return parseaddr(text)


class EmailVendorConformance(HttpAdapterConformance):
    channel = Channel.EMAIL

    @abstractmethod
    def read(self, body: bytes) -> Sent:
        """What stands in the body of a request."""

    def request(self, message: Message) -> tuple[str, bytes]:
        """Head and body of the one request that a message makes."""
        with FaultServer(answering(self.acceptance)) as server:
            verdict, _ = self.send(server.url, message)
        assert verdict.outcome is Outcome.ACCEPTED
        (request,) = server.requests
        head, _, body = request.partition(b"\r\n\r\n")
        return head.decode("ascii"), body

    def refused_unsent(self, message: Message) -> tuple[Outcome, str]:
        with FaultServer(answering(self.acceptance)) as server:
            verdict, _ = self.send(server.url, message)
        assert server.connections == 0
        self.assert_private(message, repr(verdict))
        return verdict.outcome, verdict.error_code

    def verdict_on(self, message: Message, status: int, body: bytes, **headers: str) -> tuple[Outcome, str]:
        with FaultServer(answering(http_answer(status, body, **headers))) as server:
            verdict, _ = self.send(server.url, message)
        assert len(server.requests) == 1
        self.assert_private(message, repr(verdict))
        return verdict.outcome, verdict.error_code

    def test_request__plain_text__says_who_to_whom_what_and_our_key(self, message):
        _, body = self.request(message)

        assert self.read(body) == Sent(
            ("Acme", "shop@acme.example"),
            message.recipient,
            message.subject,
            message.body,
            "",
            ("", ""),
            str(message.id),
        )

    def test_request__everything_in_other_alphabets__arrives_as_it_is(self, message):
        full = replace(
            message,
            recipient="jörg@xn--mnchen-3ya.example",
            subject="Grüße, „Ada“: 你好",
            body="Zeile eins\nπ ≈ 3,14 & 100 % + 1",
            html_body="<p>Grüße & mehr</p>",
            from_name='Café "Ñandú", Groß & Söhne GmbH, Niederlassung in der langen Straße',
            reply_to="Hilfe <help@münchen.example>",
        )

        _, body = self.request(full)

        assert self.read(body) == Sent(
            (full.from_name, "shop@acme.example"),
            full.recipient,
            full.subject,
            full.body,
            full.html_body,
            ("Hilfe", "help@xn--mnchen-3ya.example"),
            str(full.id),
        )

    def test_request__next_attempt__has_the_same_body(self, message):
        assert self.request(message)[1] == self.request(replace(message, attempt_number=2))[1]

    def test_sender__client_has_its_own__goes_before_the_configured_one(self, message):
        own = replace(message, sender={"email_from": "Branch <branch@shop.example>"})

        assert self.read(self.request(own)[1]).sender == ("Branch", "branch@shop.example")

    def test_sender__of_the_client_is_no_mailbox__is_the_clients_account_at_fault(self, message):
        wrong = replace(message, sender={"email_from": "nobody"})

        assert self.refused_unsent(wrong) == (Outcome.PROVIDER_FAULT, "client_email_from_invalid")

    @pytest.mark.parametrize(
        ("field", "value", "code"),
        [
            ("recipient", "private at example.org", "invalid_recipient"),
            ("from_name", "Acme\r\nBcc: private@example.org", "invalid_header"),
            ("subject", "private\nBcc: x@example.org", "invalid_header"),
            ("reply_to", "private", "invalid_header"),
        ],
    )
    def test_content__cannot_be_an_email__is_rejected_without_a_request(self, field, value, code, message):
        changed: dict[str, Any] = {field: value}

        assert self.refused_unsent(replace(message, **changed)) == (Outcome.REJECTED, code)

    def test_throttled__until_a_date__carries_the_wish(self, message):
        now = datetime.now(UTC)
        headers = {"Retry_After": http_date(now + timedelta(seconds=40)), "Date": http_date(now)}
        with FaultServer(answering(http_answer(429, b"{}", **headers))) as server:
            verdict, _ = self.send(server.url, message)

        assert verdict.throttled
        assert verdict.retry_after_seconds == 40

    @pytest.mark.parametrize("status", [500, 503, 599])
    def test_server_error__with_the_vendors_own_proof__is_unconfirmed(self, status, message):
        _, _, rest = self.acceptance.partition(b"\r\n")
        with FaultServer(answering(b"HTTP/1.1 %d Whatever\r\n" % status + rest)) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.outcome, verdict.error_code) == (Outcome.UNCONFIRMED, f"http_{status}")


def http_date(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)
