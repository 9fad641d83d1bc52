"""Who may report: each vendor's signature, and everything that must not pass for one."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from notifications.receipts import Call, DeliveryStatus, Received, Receiver, Refused, Unreadable, build
from notifications.receipts.base import FRESH_SECONDS, Unavailable
from notifications.receipts.ses import SesReceiver
from notifications.receipts.twilio import signature as twilio_signature
from tests.support import callbacks
from tests.support.callbacks import CERTIFICATE_URL, KEY, NEW, OLD, TOPIC, call, environment
from tests.support.source import ROOT

WRONG = "a-wrong-secret"


def _fetch(url: str) -> bytes:
    assert url == CERTIFICATE_URL
    return callbacks.certificate()


RECEIVERS = dict(build((), environment())) | {"ses": SesReceiver("ses", [TOPIC], _fetch)}


def receive(kind: str, made: Call, **later: float) -> Received:
    return RECEIVERS[kind].receive(made, now=datetime.now(UTC) + timedelta(**later))


def _twilio(secret: str = NEW) -> Call:
    pairs = [("MessageSid", "SM1"), ("MessageStatus", "delivered"), ("To", "+14155550100")]
    url = f"{callbacks.BASE}/receipts/twilio?key={KEY}"
    signed = twilio_signature(secret, url, pairs)
    return call(urlencode(pairs).encode(), url=url, headers={"X-Twilio-Signature": signed})


def _sendgrid(secret: str = NEW) -> Call:
    key = callbacks.SENDGRID_KEY if secret != WRONG else ec.generate_private_key(ec.SECP256R1())
    return callbacks.sendgrid([{"event": "delivered", "sg_event_id": "e1", "notifyq_id": str(KEY)}], key=key)


def _mailgun(secret: str = NEW) -> Call:
    event = {"event": "delivered", "id": "e1", "user-variables": {"notifyq_id": str(KEY)}}
    return call(callbacks.mailgun(event, secret=secret))


def _vonage(secret: str = NEW, body: Any = None, **claims: Any) -> Call:
    raw = json.dumps(body or {"message_uuid": "u1", "status": "delivered", "client_ref": str(KEY)}).encode()
    known = {"iat": int(time.time()), "payload_hash": hashlib.sha256(raw).hexdigest()} | claims
    digest = jwt.api_jws.PyJWS(options={"enforce_minimum_key_length": False})
    token = digest.encode(json.dumps(known).encode(), secret.ljust(32, "-"), "HS256")
    return call(raw, headers={"Authorization": f"Bearer {token}"})


def _bulksms(secret: str = NEW) -> Call:
    message = {"id": "b1", "type": "SENT", "status": {"type": "DELIVERED", "subtype": None}}
    return call([message], url=f"{callbacks.BASE}/receipts/bulksms?secret={secret}")


def _ses(secret: str = NEW) -> Call:
    key = callbacks.SNS_KEY if secret != WRONG else rsa.generate_private_key(public_exponent=65537, key_size=2048)
    event = {"eventType": "Delivery", "delivery": {}, "mail": {"messageId": "x", "tags": {"notifyq_id": [str(KEY)]}}}
    return call(callbacks.sns(event, key=key))


def _resend(secret: str = NEW) -> Call:
    keys = {NEW: callbacks.WHSEC, OLD: callbacks.OLD_WHSEC, WRONG: callbacks.OTHER_WHSEC}
    data = {"email_id": "r1", "tags": [{"name": "notifyq_id", "value": str(KEY)}]}
    return callbacks.resend({"type": "email.delivered", "data": data}, secret=keys[secret])


def _sandbox(secret: str = NEW) -> Call:
    return callbacks.sandbox([callbacks.sandbox_event("e1", "DELIVERED", key=KEY)], secret=secret)


GENUINE: dict[str, Callable[..., Call]] = {
    "twilio": _twilio,
    "sendgrid": _sendgrid,
    "mailgun": _mailgun,
    "vonage": _vonage,
    "bulksms": _bulksms,
    "ses": _ses,
    "resend": _resend,
    "sandbox": _sandbox,
}
RECEIVERS["vonage"] = build(
    (), environment(NOTIFYQ_VONAGE_RECEIPT_SECRETS=f"{NEW.ljust(32, '-')},{OLD.ljust(32, '-')}")
)["vonage"]


@pytest.mark.parametrize("secret", [NEW, OLD])
@pytest.mark.parametrize("kind", GENUINE)
def test_receiver__signed_with_any_of_its_secrets__reads_the_receipt(kind: str, secret: str) -> None:
    [receipt] = receive(kind, GENUINE[kind](secret)).receipts
    assert receipt.status is DeliveryStatus.DELIVERED
    assert receipt.provider == kind
    assert receipt.key == (None if kind == "bulksms" else KEY)


@pytest.mark.parametrize("kind", GENUINE)
def test_receiver__signed_with_another_secret__is_refused(kind: str) -> None:
    with pytest.raises(Refused, match="bad_signature"):
        receive(kind, GENUINE[kind](WRONG))


@pytest.mark.parametrize("kind", GENUINE)
def test_receiver__without_any_signature__is_refused(kind: str) -> None:
    genuine = GENUINE[kind]()
    if kind in ("mailgun", "ses"):
        body = {name: value for name, value in json.loads(genuine.body).items() if name.lower() != "signature"}
        bare = replace(genuine, body=json.dumps(body).encode())
    else:
        bare = replace(genuine, headers={}, urls=(f"{callbacks.BASE}/receipts/{kind}",))
    with pytest.raises(Refused, match="no_signature"):
        receive(kind, bare)


@pytest.mark.parametrize("kind", sorted(GENUINE.keys() - {"mailgun", "bulksms"}))  # theirs do not cover the body
def test_receiver__another_body_under_the_signature__is_refused(kind: str) -> None:
    genuine = GENUINE[kind]()
    tampered = (
        genuine.body.replace(b"delivered", b"bounced").replace(b"DELIVERED", b"BOUNCED").replace(b"Deliv", b"Bounc")
    )
    assert tampered != genuine.body
    with pytest.raises(Refused, match="bad_signature"):
        receive(kind, replace(genuine, body=tampered))


def test_twilio__another_address_under_the_signature__is_refused() -> None:
    other = f"{callbacks.BASE}/receipts/twilio?key=01a22cbf-5d05-7797-8b38-3cc29ff8d9c9"
    with pytest.raises(Refused, match="bad_signature"):
        receive("twilio", replace(_twilio(), urls=(other,)))


@pytest.mark.parametrize("spelling", ["https://notify.example.com:443", "https://notify.example.com"])
def test_twilio__the_usual_port_in_the_address_or_not__is_the_same(spelling: str) -> None:
    pairs = [("MessageSid", "SM1"), ("MessageStatus", "sent")]
    signed = twilio_signature(NEW, f"{spelling}/receipts/twilio?key={KEY}", pairs)
    made = call(
        urlencode(pairs).encode(),
        url=f"{callbacks.BASE}/receipts/twilio?key={KEY}",
        headers={"X-Twilio-Signature": signed},
    )
    assert len(receive("twilio", made).receipts) == 1


@pytest.mark.parametrize(("kind", "hours"), [(kind, seconds / 3600 + 0.1) for kind, seconds in FRESH_SECONDS.items()])
def test_receiver__a_timestamp_of_long_ago__is_stale(kind: str, hours: float) -> None:
    genuine = GENUINE[kind]()
    assert receive(kind, genuine, hours=hours / 4).receipts
    with pytest.raises(Refused, match="stale"):
        receive(kind, genuine, hours=hours)


@pytest.mark.parametrize("kind", FRESH_SECONDS)
def test_receiver__a_timestamp_of_the_future__is_stale(kind: str) -> None:
    with pytest.raises(Refused, match="stale"):
        receive(kind, GENUINE[kind](), minutes=-10)


@pytest.mark.parametrize("kind", sorted(GENUINE.keys() - FRESH_SECONDS.keys()))
def test_receiver__without_a_signed_time__reads_a_replay_as_the_same_reports(kind: str) -> None:
    genuine = GENUINE[kind]()
    assert receive(kind, genuine, days=30) == receive(kind, genuine)


@pytest.mark.parametrize("issued", [None, "", True, float("nan"), float("inf"), -5, 1e22, [1], "now"])
def test_vonage__that_does_not_say_when_it_was_made__is_stale(issued: Any) -> None:
    with pytest.raises(Refused, match="stale"):
        receive("vonage", _vonage(iat=issued))


def test_vonage__expired__is_stale() -> None:
    with pytest.raises(Refused, match="stale"):
        receive("vonage", _vonage(exp=int(time.time()) - 3600))


@pytest.mark.parametrize("hash_", [None, "", "0" * 64])
def test_vonage__a_genuine_token_for_another_body__is_refused(hash_: str | None) -> None:
    with pytest.raises(Refused, match="bad_signature"):
        receive("vonage", _vonage(payload_hash=hash_))


@pytest.mark.parametrize("algorithm", ["none", "HS512", "RS256"])
def test_vonage__any_other_algorithm_in_the_header__is_refused(algorithm: str) -> None:
    token = _vonage().headers["authorization"].partition(" ")[2]
    header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm}).encode()).rstrip(b"=").decode()
    forged = ".".join([header, *token.split(".")[1:]])
    with pytest.raises(Refused, match="bad_signature"):
        receive("vonage", replace(_vonage(), headers={"authorization": f"Bearer {forged}"}))


def test_mailgun__hands_on_its_token__to_be_taken_once() -> None:
    assert receive("mailgun", _mailgun()).token == "a" * 50


@pytest.mark.parametrize(
    "url",
    [
        "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abcd.pem",
        "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123abcd.pem",
        "https://sns.eu-west-1.amazonaws.com.example.org/SimpleNotificationService-0123abcd.pem",
        "https://sns.eu-west-1.amazonaws.com@example.org/SimpleNotificationService-0123abcd.pem",
        "https://example.org/https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abcd.pem",
        "https://sns.eu-west-1.amazonaws.com/../SimpleNotificationService-0123abcd.pem",
        "https://sns.eu-west-1.amazonaws.com/?Action=Publish&x=/SimpleNotificationService-0123abcd.pem",
        "https://169.254.169.254/SimpleNotificationService-0123abcd.pem",
        "",
    ],
)
def test_ses__a_certificate_from_anywhere_else__is_refused_and_nothing_is_fetched(url: str) -> None:
    with pytest.raises(Refused, match="wrong_certificate"):
        receive("ses", call(callbacks.sns({}, SigningCertURL=url)))


def test_ses__a_topic_that_is_not_ours__is_refused_and_nothing_is_fetched() -> None:
    made = callbacks.sns({}, TopicArn="arn:aws:sns:eu-west-1:999999999999:ses-events", SigningCertURL="https://x")
    with pytest.raises(Refused, match="wrong_topic"):
        receive("ses", call(made))


@pytest.mark.parametrize("version", ["1", "2"])
def test_ses__either_version_of_the_signature__is_taken(version: str) -> None:
    event = {"eventType": "Send", "mail": {"messageId": "x"}}
    assert receive("ses", call(callbacks.sns(event, version=version, Subject="A subject"))).receipts


def test_ses__a_subscription_to_be_confirmed__is_confirmed_at_sns_and_nowhere_else() -> None:
    made = callbacks.sns(
        "hello", Type="SubscriptionConfirmation", Token="tok&n", SubscribeURL="https://example.org/steal"
    )
    received = receive("ses", call(made))
    assert received.receipts == ()
    assert received.confirm_url == (
        "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aeu-west-1"
        "%3A123456789012%3Ases-events&Token=tok%26n"
    )


def test_ses__the_certificate__is_fetched_once() -> None:
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return callbacks.certificate()

    receiver = SesReceiver("ses", [TOPIC], fetch)
    for _ in range(3):
        receiver.receive(_ses(), now=datetime.now(UTC))
    assert asked == [CERTIFICATE_URL]


@pytest.mark.parametrize("answer", [b"", b"no certificate"])
def test_ses__something_else_than_a_certificate__is_asked_for_again_later(answer: bytes) -> None:
    receiver = SesReceiver("ses", [TOPIC], lambda url: answer)
    with pytest.raises(Unavailable):
        receiver.receive(_ses(), now=datetime.now(UTC))


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"text"', b"[" * 50_000, b"\xff"])
def test_receiver__genuine_but_unreadable__says_so(body: bytes) -> None:
    with pytest.raises(Unreadable):
        receive("sendgrid", callbacks.sendgrid(body))
    with pytest.raises(Unreadable):
        receive("bulksms", call(body, url=f"{callbacks.BASE}/receipts/bulksms?secret={NEW}"))


@pytest.mark.parametrize("body", [b"", b"[1]", b'"text"', b"{", b"\xff", b"[" * 50_000, b"MessageSid=" + b"\xff"])
@pytest.mark.parametrize("kind", GENUINE)
def test_receiver__unsigned_and_unreadable__is_refused_and_not_read(kind: str, body: bytes) -> None:
    with pytest.raises(Refused):
        receive(kind, call(body))


@pytest.mark.parametrize("event", [None, 1, "text", []])
def test_mailgun__genuine_without_an_event__is_unreadable(event: Any) -> None:
    with pytest.raises(Unreadable):
        receive("mailgun", call(callbacks.mailgun(event)))


@pytest.mark.parametrize("junk", [None, 1, "text", [], True])
@pytest.mark.parametrize("kind", ["sendgrid", "sandbox", "bulksms"])
def test_receiver__of_several__passes_over_what_is_no_object(kind: str, junk: Any) -> None:
    signed = {"sendgrid": callbacks.sendgrid, "sandbox": callbacks.sandbox}
    [good] = json.loads(GENUINE[kind]().body)
    items = [junk, good, junk]
    url = f"{callbacks.BASE}/receipts/bulksms?secret={NEW}"
    received = receive(kind, signed[kind](items) if kind in signed else call(items, url=url))
    assert (len(received.receipts), received.skipped_count) == (1, 2)


def test_receivers__each__is_a_receiver_of_its_kind() -> None:
    assert {name: r.kind for name, r in RECEIVERS.items()} == {name: name for name in RECEIVERS}
    assert all(isinstance(r, Receiver) for r in RECEIVERS.values())


def test_page__how_old_a_signed_time_may_be__says_what_is_checked() -> None:
    words = {25 * 3600.0: "25 hours", 12 * 3600.0: "12 hours", 3600.0: "1 hour", 300.0: "5 minutes"}
    page = (ROOT / "docs" / "receipts.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+ \w+) \|", page, re.MULTILINE))
    assert rows == {kind: words[seconds] for kind, seconds in FRESH_SECONDS.items()}
