"""The SendGrid adapter against Prism on Twilio's own descriptions of the interface: every request is of their form."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.email.sendgrid import SendGridProvider
from notifications.verdict import Found, Outcome
from tests.contracts.email_vendor import SENDER
from tests.support.prism import prism, vendor_spec

pytestmark = pytest.mark.xdist_group("prism")


@pytest.fixture(scope="session")
def mail_send():
    with prism(vendor_spec("sendgrid_mail_v3.json"), "--errors") as url:
        yield url


@pytest.fixture(scope="session")
def logs():
    with prism(vendor_spec("sendgrid_logs_v3.json"), "--errors") as url:
        yield url


@pytest.fixture
def at():
    providers = []

    def pointed(url, sender=SENDER):
        providers.append(SendGridProvider("sendgrid", url, "SG.secret", sender))
        return providers[-1]

    yield pointed
    for provider in providers:
        provider.close()


def message(**changed):
    parts = {"recipient": "ada@example.org", "subject": "Grüße", "body": "Ein Text"}
    return Message(id=uuid4(), channel=Channel.EMAIL, **parts | changed)


@pytest.mark.parametrize(
    "changed",
    [{}, {"html_body": "<p>π</p>", "from_name": "Läden, Ltd.", "reply_to": "Hilfe <help@acme.example>"}],
    ids=["plain", "everything"],
)
def test_send__request__is_of_the_documented_form(mail_send, at, changed):
    verdict = at(mail_send).send(message(**changed), timeout_seconds=30)

    # Prism answers the documented 202 to a request of the right form, without the header that would prove a mail.
    assert (verdict.outcome, verdict.error_code) == (Outcome.UNCONFIRMED, "no_proof")
    assert "answered 202" in verdict.error_message


def test_send__request_is_of_another_form__would_be_noticed(mail_send, at):
    answer = at(mail_send).post(
        f"{mail_send}/v3/mail/send",
        json={"personalizations": [{"to": [{"email": "ada@example.org"}]}], "subject": "no sender"},
        headers={"Authorization": "Bearer SG.secret"},
        timeout_seconds=30,
    )

    assert answer.status == 400


def test_look_up__both_requests__are_of_the_documented_form(logs, at):
    since = datetime.now(UTC) - timedelta(hours=2)

    # Prism lists one mail, whose record has other custom arguments than ours: read, and known to be another.
    assert at(logs).look_up(message(), since=since, timeout_seconds=30).found is Found.ABSENT
