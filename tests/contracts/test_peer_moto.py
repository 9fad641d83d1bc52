"""The SES adapter against moto: signed, understood, and one mail for one call."""

from uuid import uuid4

import boto3
import pytest
import requests

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.registry import build
from notifications.verdict import Outcome
from notifyq.env import Environment
from tests.support.moto_server import moto_server

REGION = "eu-west-1"
pytestmark = pytest.mark.xdist_group("moto")


@pytest.fixture(scope="session")
def moto():
    with moto_server() as url:
        yield url


@pytest.fixture
def amazon(moto):
    """Amazon's own client, for what a person would do in the console."""
    requests.post(f"{moto}/moto-api/reset", timeout=10)
    return boto3.client("sesv2", REGION, endpoint_url=moto, aws_access_key_id="AKID", aws_secret_access_key="secret")


@pytest.fixture
def ses(moto):
    settings = {
        "NOTIFYQ_SES_URL": moto,
        "NOTIFYQ_SES_REGION": REGION,
        "NOTIFYQ_SES_ACCESS_KEY_ID": "AKID",
        "NOTIFYQ_SES_SECRET_ACCESS_KEY": "secret",
        "NOTIFYQ_EMAIL_FROM": "Ärger & Söhne <shop@acme.example>",
    }
    provider = build("ses", Environment(settings))
    yield provider
    provider.close()


def message(**changed):
    parts = {"recipient": "ada@example.org", "subject": "Grüße, 你好", "body": "Ein Text", "html_body": "<p>π</p>"}
    return Message(id=uuid4(), channel=Channel.EMAIL, **parts | changed)


def mails(moto):
    accounts = requests.get(f"{moto}/moto-api/data.json", timeout=10).json().get("ses", {})
    return accounts.get("Message", [])


def test_send__sender_not_verified__is_the_account_at_fault_and_sends_nothing(moto, amazon, ses):
    verdict = ses.send(message(), timeout_seconds=30)

    assert (verdict.outcome, verdict.error_code) == (Outcome.PROVIDER_FAULT, "MessageRejected")
    assert "@" not in verdict.error_message
    assert mails(moto) == []


def test_send__sender_verified__is_accepted_and_sent_once(moto, amazon, ses):
    amazon.create_email_identity(EmailIdentity="shop@acme.example")

    verdict = ses.send(message(reply_to="Hilfe Ä <help@acme.example>"), timeout_seconds=30)

    assert verdict.outcome is Outcome.ACCEPTED
    (mail,) = mails(moto)
    assert mail["id"] == verdict.provider_message_id
    assert (mail["subject"], mail["body"]) == ("Grüße, 你好", "<p>π</p>")
    assert mail["destinations"]["ToAddresses"] == ["ada@example.org"]
