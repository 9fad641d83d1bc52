"""The SMTP adapter against a mail server that nobody here wrote: Exim, from Debian.

`apt-get install -y --no-install-recommends exim4-daemon-light` provides it; the test starts its own daemon on a free
loopback port, as root or as anybody, and never touches the packaged configuration. Where it is not installed the tests
are skipped; with CI=true they fail.
"""

import os
import shutil
import uuid
from urllib.parse import quote

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.registry import build
from notifications.verdict import Outcome
from notifyq.env import Environment
from tests.support.exim import PASSWORD, USER, Exim


@pytest.fixture(scope="module")
def exim():
    if not shutil.which("exim4", path="/usr/sbin:/usr/bin"):
        reason = "exim4 is not installed (Debian package exim4-daemon-light)"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with Exim() as running:
        yield running


@pytest.fixture
def send(exim):
    providers = {}

    def sender(url="smtp://127.0.0.1:{port}", email_from="Acme <no-reply@acme.example>", **fields):
        env = {"NOTIFYQ_SMTP_URL": url.format(port=exim.port), "NOTIFYQ_EMAIL_FROM": email_from}
        key = tuple(env.values())
        if key not in providers:
            providers[key] = build("smtp", Environment(env))
        values = {"id": uuid.uuid4(), "channel": Channel.EMAIL, "recipient": "bob@shop.example", "subject": "Hi"}
        return providers[key].send(Message(**{**values, "body": "Hello", **fields}), timeout_seconds=10)

    yield sender
    for provider in providers.values():
        provider.close()


def test_send__exim__queues_it_and_logs_our_proof(exim, send):
    notification_id = uuid.uuid4()
    body = ".\r\n.leading dot\n" + "Grüße " * 400 + "\nend"
    verdict = send(id=notification_id, subject="Grüße " * 20 + "end", from_name="Müller, Hans", body=body)
    assert verdict.outcome is Outcome.ACCEPTED
    (mail,) = [m for m in exim.mails() if m["Message-ID"] == verdict.provider_message_id]
    assert mail["Subject"] == "Grüße " * 20 + "end"
    assert mail["From"].addresses[0].display_name == "Müller, Hans"
    assert mail.get_content().replace("\r\n", "\n").rstrip("\n") == body.replace("\r\n", "\n")
    # Exim notes the Message-ID without its brackets.
    assert f"id={notification_id}@acme.example" in exim.log()


def test_send__exim_with_login__is_encrypted_and_authenticated(exim, send):
    url = f"smtp://{USER}:{quote(PASSWORD)}@127.0.0.1:{{port}}?cafile={exim.certificate}"
    verdict = send(url, recipient="far@elsewhere.example")
    assert verdict.outcome is Outcome.ACCEPTED
    (line,) = [text for text in exim.log().splitlines() if verdict.provider_message_id.strip("<>") in text]
    assert f"A=plain:{USER}" in line
    assert "P=esmtpsa" in line


def test_send__exim_many_mails__share_one_session(exim, send):
    before = len(exim.mails())
    assert [send().outcome for _ in range(30)] == [Outcome.ACCEPTED] * 30
    assert len(exim.mails()) == before + 30


@pytest.mark.parametrize(
    ("fields", "outcome", "code"),
    [
        ({"recipient": "unknown@shop.example"}, Outcome.REJECTED, "smtp_550_5.1.1"),
        ({"recipient": "greylisted@shop.example"}, Outcome.TEMPORARY, "smtp_451_4.7.1"),
        ({"recipient": "dropped@shop.example"}, Outcome.REJECTED, "smtp_550_5.7.1"),
        ({"recipient": "far@elsewhere.example"}, Outcome.REJECTED, "smtp_550"),
        ({"subject": "please refuse this"}, Outcome.REJECTED, "smtp_550_5.7.1"),
        ({"subject": "please defer this"}, Outcome.TEMPORARY, "smtp_451_4.3.0"),
        ({"body": "x" * 200_000}, Outcome.REJECTED, "smtp_552"),
        ({"email_from": "suspended@acme.example"}, Outcome.PROVIDER_FAULT, "smtp_550_5.7.13"),
        ({"url": "smtp://clerk:wrong@127.0.0.1:{port}?starttls=opportunistic"}, Outcome.PROVIDER_FAULT, "smtp_535"),
        ({"url": "smtp://clerk:wrong@127.0.0.1:{port}"}, Outcome.PROVIDER_FAULT, "tls_not_trusted"),
    ],
)
def test_send__exim_refuses__verdict_says_so_and_hides_the_rest(exim, send, fields, outcome, code):
    before = len(exim.mails())
    verdict = send(**fields)
    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    for private in ("shop.example", "unknown@", "please", "clerk", "wrong"):
        assert private not in verdict.error_message
    assert len(exim.mails()) == before


def test_send__exim_refused_one__takes_the_next(send):
    outcomes = [send(recipient=f"{name}@shop.example").outcome for name in ("unknown", "bob", "dropped", "bob")]
    assert outcomes == [Outcome.REJECTED, Outcome.ACCEPTED, Outcome.REJECTED, Outcome.ACCEPTED]


def test_send__exim_and_a_non_ascii_recipient__accepted(send):
    assert send(recipient="jürgen@münchen.example").outcome is Outcome.ACCEPTED
