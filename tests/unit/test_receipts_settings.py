"""What checks callbacks: a value that can check nothing stops the start, with one line that names its variable."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from notifications.errors import ConfigurationError
from notifications.providers.sms.account import receipts_address
from notifications.receipts import build
from notifications.receipts.registry import RECEIVERS, variable_of
from notifyq.env import Config, Environment
from tests.support import callbacks

LOOKS = {
    "bulksms": "secrets of at least 8 letters, digits",
    "mailgun": "HTTP webhook signing key",
    "resend": "signing secrets that Resend shows: whsec_ and base64",
    "sandbox": "at least 8 characters, without spaces",
    "sendgrid": "public keys that SendGrid shows",
    "ses": "ARNs of SNS topics",
    "twilio": "auth token, 32 letters and digits",
    "vonage": "signature secret",
}
UNUSABLE = ["short", "two words here", "a-secret-with-…-in-it", "\x07-bell-rings", ",", " , ,"]
UNUSABLE_HERE = {
    "bulksms": ["a+secret&more=", "secret#fragment", "per%20cent-encoded"],
    "resend": ["whsec_!!", "whsec_abc", "mysecret123456", "whsec_", "whsec_not-base64!", "re_123456789012345678901234"],
    "sendgrid": [
        "not-a-public-key",
        "SG.abc",
        callbacks.public_text(ec.generate_private_key(ec.SECP384R1())),
        base64.b64encode(
            rsa.generate_private_key(public_exponent=65537, key_size=2048)
            .public_key()
            .public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        ).decode(),
    ],
    "ses": ["a-topic-name", "arn:aws:sqs:eu-west-1:123456789012:queue", "https://sns.eu-west-1.amazonaws.com/"],
    "twilio": ["AC" + "0" * 32, "SK" + "ab" * 16, "fifteen-letters"],
}
VALUES = [(kind, value) for kind in RECEIVERS for value in [*UNUSABLE, *UNUSABLE_HERE.get(kind, ())]]


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_build__what_can_check_nothing__is_named_but_not_repeated(kind: str, value: str) -> None:
    name = f"NOTIFYQ_{variable_of(kind)}"
    with pytest.raises(ConfigurationError, match=rf"{name} must hold .*{LOOKS[kind]}") as caught:
        build((), Environment({name: value}))
    text = str(caught.value)
    assert "\n" not in text
    assert value.strip(" ,").removeprefix("whsec_") == "" or value not in text


@pytest.mark.parametrize("kind", RECEIVERS)
def test_build__one_of_two_is_unusable__stops_the_start(kind: str) -> None:
    name = f"NOTIFYQ_{variable_of(kind)}"
    good = callbacks.environment().text(name.removeprefix("NOTIFYQ_"))
    assert build((), Environment({name: good}))
    with pytest.raises(ConfigurationError, match=name):
        build((), Environment({name: f"{good},short"}))


@pytest.mark.parametrize("secret", [callbacks.WHSEC, callbacks.WHSEC.removeprefix("whsec_")])
def test_build__resend_with_or_without_the_prefix__is_the_same(secret: str) -> None:
    assert build((), Environment({"NOTIFYQ_RESEND_RECEIPT_SECRETS": secret}))


def test_build__labelled_instances__have_secrets_of_their_own() -> None:
    env = Environment({"NOTIFYQ_TWILIO_EU_RECEIPT_SECRETS": callbacks.NEW})
    built = build(("twilio:eu", "smtp", "sandbox:a"), env)
    assert {name: type(r).kind for name, r in built.items()} == {"twilio:eu": "twilio"}


def test_settings__of_providers_that_left_their_chain__are_read_and_checked() -> None:
    env = Environment({"NOTIFYQ_RECEIPT_PROVIDERS": "twilio:eu", "NOTIFYQ_RECEIPTS_URL": "https://notify.example.com/"})
    config = Config.load(env)
    assert config.receipt_providers == ("sandbox", "twilio:eu")
    assert config.receipts_url == "https://notify.example.com"
    with pytest.raises(ConfigurationError, match="NOTIFYQ_RECEIPT_PROVIDERS names 'twillio:eu'"):
        Config.load(Environment({"NOTIFYQ_RECEIPT_PROVIDERS": "twillio:eu"}))
    with pytest.raises(ConfigurationError, match="NOTIFYQ_RECEIPTS_URL must be a URL"):
        Config.load(Environment({"NOTIFYQ_RECEIPTS_URL": "notify.example.com"}))


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.8.9.10", "localhost:8000", "LOCALHOST", "[::1]:8000"])
def test_receipts_url__of_this_machine__needs_no_tls(host: str) -> None:
    env = Environment({"NOTIFYQ_RECEIPTS_URL": f"http://{host}/base/"})
    assert Config.load(env).receipts_url == f"http://{host}/base"
    assert receipts_address(env, "twilio") == f"http://{host}/base/receipts/twilio"


@pytest.mark.parametrize(
    "url",
    [
        "http://notify.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://10.0.0.1",
        "http://0.0.0.0:8000",
        "https://notify.example.com/?a=b",
        "https://notify.example.com/#a",
        "https://ada:secret@notify.example.com",
        "http://127.0.0.1@notify.example.com",
    ],
)
def test_receipts_url__in_the_clear_or_with_more_than_a_path__stops_every_process_alike(url: str) -> None:
    env = Environment({"NOTIFYQ_RECEIPTS_URL": url})
    for read in (lambda: Config.load(env), lambda: receipts_address(env, "twilio")):
        with pytest.raises(ConfigurationError, match="NOTIFYQ_RECEIPTS_URL must be https://, a host") as caught:
            read()
        assert "secret" not in str(caught.value)
