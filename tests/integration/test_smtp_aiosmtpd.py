"""The SMTP adapter against aiosmtpd: what arrives, read back with the standard library's parser."""

import socket
import ssl
import uuid
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.registry import build
from notifications.verdict import Outcome
from notifyq.env import Environment
from tests.support.certificate import write_certificate


class Mailbag:
    """Keeps the envelopes it gets."""

    def __init__(self):
        self.envelopes = []
        self.encrypted = []

    async def handle_DATA(self, server, session, envelope):
        self.envelopes.append(envelope)
        self.encrypted.append(session.ssl is not None)
        return "250 2.0.0 kept"

    @property
    def mails(self):
        return [message_from_bytes(e.original_content, policy=policy.default) for e in self.envelopes]


def check_login(server, session, envelope, mechanism, credentials):
    good = (credentials.login, credentials.password) == (b"clerk", "pä:ss/@".encode())
    return AuthResult(success=good, handled=False)


class LoginOnly(SMTP):
    """Offers AUTH LOGIN and not PLAIN, like older Exchange servers."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, auth_exclude_mechanism=["PLAIN"], **kwargs)


class LoginController(Controller):
    def factory(self):
        return LoginOnly(self.handler, **self.SMTP_kwargs)


@pytest.fixture
def start():
    controllers = []

    def starter(controller=Controller, **options):
        bag = Mailbag()
        with socket.create_server(("127.0.0.1", 0)) as free:  # the controller cannot choose a port itself
            port = free.getsockname()[1]
        running = controller(bag, hostname="127.0.0.1", port=port, **options)
        running.start()
        controllers.append(running)
        return bag, port

    yield starter
    for running in controllers:
        running.stop()


@pytest.fixture
def connect():
    providers = []

    def connector(url, sender="Acme <no-reply@acme.example>"):
        built = build("smtp", Environment({"NOTIFYQ_SMTP_URL": url, "NOTIFYQ_EMAIL_FROM": sender}))
        providers.append(built)
        return built

    yield connector
    for built in providers:
        built.close()


@pytest.fixture
def tls(tmp_path):
    certificate, key = write_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context


def message(**fields):
    values = {"id": uuid.uuid4(), "channel": Channel.EMAIL, "recipient": "bob@shop.example", "subject": "Hi"}
    return Message(**{**values, "body": "Hello", **fields})


def test_send__plain_server__mail_arrives_with_its_headers(start, connect):
    bag, port = start()
    wanted = message(subject="Grüße " * 30 + "end", from_name="Müller, Hans", reply_to="Hilfe <help@acme.example>")
    verdict = connect(f"smtp://127.0.0.1:{port}").send(wanted, timeout_seconds=5)
    assert (verdict.outcome, verdict.provider_message_id) == (Outcome.ACCEPTED, f"<{wanted.id}@acme.example>")
    (envelope,), (mail,) = bag.envelopes, bag.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("no-reply@acme.example", ["bob@shop.example"])
    assert mail["Subject"] == wanted.subject
    assert mail["From"].addresses[0].display_name == "Müller, Hans"
    assert mail["Reply-To"].addresses[0].addr_spec == "help@acme.example"
    assert mail["Message-ID"] == verdict.provider_message_id
    assert mail.get_content() == "Hello\r\n"


@pytest.mark.parametrize(
    "body",
    [
        ".\r\n..\r\n.leading\r\nand.inside",
        "a line of " + "9" * 20_000,
        "bare\rCR and bare\nLF",
        "ünï " * 2_000,
        "日本語\n.\n" * 50,
        "From here\nFrom there",
        "nul \0 and bell \a",
        "trailing space \n\n\n",
        "",
    ],
)
def test_send__awkward_body__arrives_as_it_was(start, connect, body):
    bag, port = start()
    assert connect(f"smtp://127.0.0.1:{port}").send(message(body=body), timeout_seconds=5).outcome is Outcome.ACCEPTED
    arrived = bag.mails[0].get_content().replace("\r\n", "\n")
    wanted = body.replace("\r\n", "\n").replace("\r", "\n")
    assert arrived == (wanted if wanted.endswith("\n") else wanted + "\n")


def test_send__html_body__arrives_as_the_alternative(start, connect):
    bag, port = start()
    html = "<p>Grüße</p>\n" * 500
    connect(f"smtp://127.0.0.1:{port}").send(message(html_body=html), timeout_seconds=5)
    plain, rich = bag.mails[0].iter_parts()
    assert plain.get_content().strip() == "Hello"
    assert rich.get_content_subtype() == "html"
    assert rich.get_content().replace("\r\n", "\n") == html


def test_send__two_attempts__have_one_message_id(start, connect):
    bag, port = start()
    provider, wanted = connect(f"smtp://127.0.0.1:{port}"), message()
    proofs = {provider.send(wanted, timeout_seconds=5).provider_message_id for _ in range(2)}
    assert {mail["Message-ID"] for mail in bag.mails} == proofs == {f"<{wanted.id}@acme.example>"}


def test_send__non_ascii_local_part__goes_where_smtputf8_is_offered(start, connect):
    bag, port = start(enable_SMTPUTF8=True)
    wanted = message(recipient="jürgen@münchen.example")
    assert connect(f"smtp://127.0.0.1:{port}").send(wanted, timeout_seconds=5).outcome is Outcome.ACCEPTED
    (envelope,) = bag.envelopes
    assert envelope.rcpt_tos == ["jürgen@xn--mnchen-3ya.example"]
    assert "SMTPUTF8" in envelope.mail_options
    assert "To: jürgen@xn--mnchen-3ya.example\r\n".encode() in envelope.original_content


@pytest.mark.parametrize("controller", [Controller, LoginController], ids=["plain", "login"])
def test_send__starttls_and_login__mail_arrives_encrypted(start, connect, tls, controller):
    certificate, context = tls
    bag, port = start(
        controller, tls_context=context, require_starttls=True, auth_required=True, authenticator=check_login
    )
    url = f"smtp://clerk:p%C3%A4%3Ass%2F%40@127.0.0.1:{port}?cafile={certificate}"
    assert connect(url).send(message(), timeout_seconds=5).outcome is Outcome.ACCEPTED
    assert bag.encrypted == [True]


def test_send__wrong_password__is_a_provider_fault(start, connect, tls):
    certificate, context = tls
    bag, port = start(tls_context=context, auth_required=True, authenticator=check_login)
    url = f"smtp://clerk:wrong@127.0.0.1:{port}?cafile={certificate}"
    verdict = connect(url).send(message(), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (Outcome.PROVIDER_FAULT, "smtp_535_5.7.8")
    assert not bag.envelopes


def test_send__login_required_and_none_given__is_a_provider_fault(start, connect, tls):
    bag, port = start(tls_context=tls[1], auth_required=True, authenticator=check_login)
    verdict = connect(f"smtp://127.0.0.1:{port}").send(message(), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (Outcome.PROVIDER_FAULT, "smtp_530_5.7.0")
    assert not bag.envelopes


def test_send__certificate_not_trusted__login_is_never_sent(start, connect, tls):
    bag, port = start(tls_context=tls[1], auth_required=True, authenticator=check_login)
    verdict = connect(f"smtp://clerk:wrong@127.0.0.1:{port}").send(message(), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (Outcome.PROVIDER_FAULT, "tls_not_trusted")
    assert not bag.envelopes


def test_send__certificate_for_another_host__login_is_never_sent(start, connect, tmp_path):
    certificate, key = write_certificate(tmp_path, host="127.0.0.2")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    _, port = start(tls_context=context, auth_required=True, authenticator=check_login)
    verdict = connect(f"smtp://u:p@127.0.0.1:{port}?cafile={certificate}").send(message(), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (Outcome.PROVIDER_FAULT, "tls_not_trusted")


def test_send__opportunistic__encrypts_even_with_an_unknown_certificate(start, connect, tls):
    bag, port = start(tls_context=tls[1])
    assert connect(f"smtp://127.0.0.1:{port}").send(message(), timeout_seconds=5).outcome is Outcome.ACCEPTED
    assert bag.encrypted == [True]


def test_send__starttls_never__stays_in_clear(start, connect, tls):
    bag, port = start(tls_context=tls[1])
    provider = connect(f"smtp://127.0.0.1:{port}?starttls=never")
    assert provider.send(message(), timeout_seconds=5).outcome is Outcome.ACCEPTED
    assert bag.encrypted == [False]


def test_send__implicit_tls__mail_arrives(start, connect, tls):
    certificate, context = tls
    bag, port = start(ssl_context=context)
    provider = connect(f"smtps://127.0.0.1:{port}?cafile={certificate}")
    outcomes = [provider.send(message(), timeout_seconds=5).outcome for _ in range(3)]
    assert outcomes == [Outcome.ACCEPTED] * 3
    assert len(bag.envelopes) == 3


def test_send__mail_beyond_the_size_limit__is_rejected(start, connect):
    bag, port = start(data_size_limit=2_000)
    verdict = connect(f"smtp://127.0.0.1:{port}").send(message(body="x\n" * 2_000), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (Outcome.REJECTED, "smtp_552")
    assert not bag.envelopes
