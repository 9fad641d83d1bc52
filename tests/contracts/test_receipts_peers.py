"""Our receivers against what the vendors themselves, and others, wrote to sign and to check with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from django.test import RequestFactory
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.receipts import Refused, mailgun, twilio
from notifications.receipts.ses import SesReceiver
from tests.support import callbacks
from tests.support.callbacks import KEY, NEW, call
from tests.support.peers import need
from tests.support.receiver import Receiver
from tests.unit.test_receipts_signatures import GENUINE, receive

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXT.filter(bool), TEXT, max_size=6), st.sampled_from(["HMAC_SHA1", "HMAC_SHA256"]))
def test_twilio__its_own_validator__makes_and_takes_the_same_signature(fields: dict[str, str], algorithm: str) -> None:
    validator = need("twilio.request_validator").RequestValidator(NEW)
    url = f"{callbacks.BASE}/receipts/twilio?key={KEY}"
    ours = twilio.signature(NEW, url, list(fields.items()), algorithm.removeprefix("HMAC_").lower())
    assert validator.compute_signature(url, fields, algorithm) == ours
    assert validator.validate(url, fields, ours, algorithm)


@pytest.mark.parametrize("algorithm", ["HMAC_SHA1", "HMAC_SHA256"])
def test_twilio__signed_by_its_own_library__is_taken(algorithm: str) -> None:
    validator = need("twilio.request_validator").RequestValidator(NEW)
    url = f"{callbacks.BASE}/receipts/twilio?key={KEY}"
    fields = {"MessageSid": "SM1", "MessageStatus": "sent", "To": "+14155550100", "Empty": ""}
    headers = {"X-Twilio-Signature": validator.compute_signature(url, fields, algorithm)}
    if algorithm == "HMAC_SHA256":
        headers["X-Twilio-Webhooks-Signature-Settings"] = "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256"
    assert receive("twilio", call(urlencode(fields).encode(), url=url, headers=headers)).receipts


def test_sendgrid__its_own_helper__takes_what_our_receiver_takes() -> None:
    helper = need("sendgrid.helpers.eventwebhook").EventWebhook(callbacks.public_text(callbacks.SENDGRID_KEY))
    made = callbacks.sendgrid([{"event": "delivered", "sg_event_id": "ä", "notifyq_id": str(KEY)}])
    name = "x-twilio-email-event-webhook-"
    signed = (made.headers[f"{name}signature"], made.headers[f"{name}timestamp"])
    assert helper.verify_signature(made.body.decode(), *signed)
    assert receive("sendgrid", made).receipts
    assert not helper.verify_signature(made.body.decode() + " ", *signed)


def test_vonage__its_own_library__takes_what_our_receiver_takes() -> None:
    verify = need("vonage_jwt").verify_signature
    secret = NEW.ljust(32, "-")
    made = GENUINE["vonage"]()
    token = made.headers["authorization"].removeprefix("Bearer ")
    assert verify(token, secret)
    assert not verify(token, "another-secret-of-thirty-two-chars")
    assert receive("vonage", made).receipts


def test_mailgun__the_view_of_anymail__takes_what_our_receiver_takes() -> None:
    views = need("anymail.webhooks.mailgun")
    errors = need("anymail.exceptions")
    view = views.MailgunTrackingWebhookView(webhook_signing_key=NEW)
    body = callbacks.mailgun({"event": "delivered", "id": "e-1", "recipient": "a@example.com"})
    wrong = body | {"signature": body["signature"] | {"signature": mailgun.signature("other-secret", "1", "2")}}

    def posted(document: Any) -> Any:
        return RequestFactory().post("/", json.dumps(document), content_type="application/json")

    view.validate_request(posted(body))
    assert [e.event_type for e in view.parse_events(posted(body))] == ["delivered"]
    assert receive("mailgun", call(body)).receipts
    with pytest.raises(errors.AnymailWebhookValidationFailure):
        view.validate_request(posted(wrong))
    with pytest.raises(Refused):
        receive("mailgun", call(wrong))


@pytest.fixture
def amazon() -> Iterator[str]:
    """moto's server: it signs what it sends through a topic as SNS does."""
    server = need("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


def test_ses__published_through_a_topic_of_moto__is_taken(amazon: str) -> None:
    boto3 = need("boto3")
    credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    client = boto3.client("sns", endpoint_url=amazon, **credentials)
    event = {"eventType": "Delivery", "delivery": {}, "mail": {"messageId": "x", "tags": {"notifyq_id": [str(KEY)]}}}
    with Receiver() as hook:
        topic = client.create_topic(Name="ses-events")["TopicArn"]
        client.subscribe(TopicArn=topic, Protocol="http", Endpoint=hook.url)
        client.publish(TopicArn=topic, Message=json.dumps(event))
        hook.wait_for_count(1, 10)
        [posted] = [json.loads(r.body) for r in hook.requests if "Delivery" in r.body]

    def fetch(url: str) -> bytes:
        path = url.removeprefix("https://sns.us-east-1.amazonaws.com")
        headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20261130/us-east-1/sns/aws4_request"}
        return requests.get(amazon + path, headers=headers, timeout=5).content

    receiver = SesReceiver("ses", [topic], fetch)
    [found] = receiver.receive(call(posted), now=datetime.now(UTC)).receipts
    assert (found.key, found.provider_message_id) == (KEY, "x")
    with pytest.raises(Refused, match="bad_signature"):
        receiver.receive(call(posted | {"Message": posted["Message"] + " "}), now=datetime.now(UTC))
