"""What the SMTP adapter makes of a failure at each step, and how many whole mails the server has got by then."""

import re
import socket
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.email import smtp as smtp_module
from notifications.providers.email import smtp_pool
from notifications.providers.email.mime import compose
from notifications.providers.email.smtp import SmtpProvider
from notifications.providers.email.smtp_pool import SessionPool
from notifications.providers.email.smtp_wire import Wire
from notifications.providers.registry import build
from notifications.verdict import Outcome
from notifyq.env import Environment
from tests.support.smtp_fault_server import SmtpFaultServer, drip, drop, hang, raw, reset

A, R, T, F, U = (
    Outcome.ACCEPTED,
    Outcome.REJECTED,
    Outcome.TEMPORARY,
    Outcome.PROVIDER_FAULT,
    Outcome.UNCONFIRMED,
)
STARTTLS_OFFER = "250-fault.example\r\n250 STARTTLS"
LARGE_CONTENT = (
    b"Subject: large\r\n\r\n" + (b"x" * 62 + b"\r\n") * 130_000
)  # 8 MB, more than the buffers of both sockets


def provider(url: str) -> SmtpProvider:
    env = {"NOTIFYQ_SMTP_URL": url, "NOTIFYQ_EMAIL_FROM": "Acme <no-reply@acme.example>"}
    built = build("smtp", Environment(env))
    assert isinstance(built, SmtpProvider)
    return built


def message(**fields) -> Message:
    values = {"id": uuid.uuid4(), "channel": Channel.EMAIL, "recipient": "bob.smith@shop.example", "subject": "Hi"}
    return Message(**{**values, "body": "Sesame 4711", **fields})


def send(server: SmtpFaultServer, *, timeout_seconds=5.0, options="", login="", **fields):
    smtp = provider(server.url.replace("//", f"//{login}") + options)
    try:
        return smtp.send(message(**fields), timeout_seconds=timeout_seconds)
    finally:
        smtp.close()


@pytest.mark.parametrize(
    ("step", "action", "outcome", "code"),
    [
        ("greeting", "421 4.3.2 shutting down", T, "smtp_421_4.3.2"),
        ("greeting", "554 5.7.1 no service for you", F, "smtp_554_5.7.1"),
        ("greeting", drop, T, "connection_lost_before_end"),
        ("greeting", reset, T, "connection_lost_before_end"),
        ("greeting", raw(b"SSH-2.0-OpenSSH_9.2\r\n"), T, "garbled_reply_before_end"),
        ("greeting", raw(b"220 " + b"x" * 10_000), T, "garbled_reply_before_end"),
        ("EHLO", drop, T, "connection_lost_before_end"),
        ("EHLO", "421 4.7.0 too many connections", T, "smtp_421_4.7.0"),
        ("EHLO", "550 5.7.1 your name is bad", F, "smtp_550_5.7.1"),
        ("EHLO", raw(b"250-half an answer\r\n250-and", drop), T, "connection_lost_before_end"),
        ("EHLO", raw(b"250-one\r\n550 two\r\n"), T, "garbled_reply_before_end"),
        ("MAIL", "451 4.3.0 later", T, "smtp_451_4.3.0"),
        ("MAIL", "452 4.3.1 disk full", T, "smtp_452_4.3.1"),
        ("MAIL", "550 5.7.60 you may not send as this sender", F, "smtp_550_5.7.60"),
        ("MAIL", "553 5.1.8 sender's domain unknown", F, "smtp_553_5.1.8"),
        ("MAIL", "530 5.7.0 log in first", F, "smtp_530_5.7.0"),
        ("MAIL", "552 5.3.4 too large", R, "smtp_552_5.3.4"),
        ("MAIL", drop, T, "connection_lost_before_end"),
        ("MAIL", reset, T, "connection_lost_before_end"),
        ("RCPT", "450 4.2.0 greylisted", T, "smtp_450_4.2.0"),
        ("RCPT", "451 4.7.1 try again", T, "smtp_451_4.7.1"),
        ("RCPT", "452 4.2.2 mailbox full", T, "smtp_452_4.2.2"),
        ("RCPT", "421 closing", T, "smtp_421"),
        ("RCPT", "550 5.1.1 no such user", R, "smtp_550_5.1.1"),
        ("RCPT", "550 no such user", R, "smtp_550"),
        ("RCPT", "551 not local", R, "smtp_551"),
        ("RCPT", "552 5.2.2 mailbox full", R, "smtp_552_5.2.2"),
        ("RCPT", "553 5.1.3 bad syntax", R, "smtp_553_5.1.3"),
        ("RCPT", "554 5.7.1 blocked", R, "smtp_554_5.7.1"),
        ("RCPT", "556 5.1.10 takes no mail", R, "smtp_556_5.1.10"),
        ("RCPT", "530 5.7.0 log in first", F, "smtp_530_5.7.0"),
        ("RCPT", "503 log in first", F, "smtp_503"),
        ("RCPT", "550 5.1.8 sender's domain unknown", F, "smtp_550_5.1.8"),
        ("RCPT", drop, T, "connection_lost_before_end"),
        ("RCPT", "354 what?", T, "unexpected_reply_before_end"),
        ("DATA", "451 4.3.5 later", T, "smtp_451_4.3.5"),
        ("DATA", "554 5.5.1 no valid recipients", R, "smtp_554_5.5.1"),
        ("DATA", "250 what?", T, "unexpected_reply_before_end"),
        ("DATA", drop, T, "connection_lost_before_end"),
    ],
)
def test_send__failure_before_the_data__is_certain(step, action, outcome, code):
    with SmtpFaultServer({step: action}) as server:
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert server.mails == []


@pytest.mark.parametrize(
    ("action", "outcome", "code", "whole_count"),
    [
        ("250 2.0.0 Ok: queued as 4XyZ", A, "", 1),
        ("250 ", A, "", 1),
        (raw(b"250\r\n"), A, "", 1),
        (raw(b"250-2.0.0 two\r\n250 2.0.0 lines\r\n"), A, "", 1),
        ("421 4.3.2 shutting down", T, "smtp_421_4.3.2", 1),
        ("450 4.7.1 later", T, "smtp_450_4.7.1", 1),
        ("451 4.3.0 later", T, "smtp_451_4.3.0", 1),
        ("452 4.3.1 disk full", T, "smtp_452_4.3.1", 1),
        ("499 4.9.9 unheard of", T, "smtp_499_4.9.9", 1),
        ("550 5.7.1 spam", R, "smtp_550_5.7.1", 1),
        ("552 5.3.4 too large", R, "smtp_552_5.3.4", 1),
        ("554 5.6.0 bad content", R, "smtp_554_5.6.0", 1),
        ("550 5.7.26 our domain fails DMARC", F, "smtp_550_5.7.26", 1),
        (drop, U, "answer_lost", 1),
        (reset, U, "answer_lost", 1),
        (raw(b"25", drop), U, "answer_lost", 1),
        (raw(b"250 2.0.0 Ok", drop), U, "answer_lost", 1),
        (raw(b"250-2.0.0 Ok\r\n", drop), U, "answer_lost", 1),
        (raw(b"550 5.7.1 sp", reset), U, "answer_lost", 1),
        (raw(b"\x00\xff\xfe garbage\r\n"), U, "answer_unclear", 1),
        (raw(b"\r\n"), U, "answer_unclear", 1),
        (raw(b"250-ok\r\n550 no\r\n"), U, "answer_unclear", 1),
        (raw(b"200 OK\r\n"), U, "answer_unclear", 1),
        ("251 will forward", U, "answer_unclear", 1),
        ("354 go on", U, "answer_unclear", 1),
        ("999 what?", U, "answer_unclear", 1),
    ],
)
def test_send__answer_to_the_final_dot__decides(action, outcome, code, whole_count):
    with SmtpFaultServer({"end": action}) as server:
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert len(server.mails) == whole_count


def test_send__accepted__proof_is_the_message_id_that_was_sent():
    wanted = message()
    with SmtpFaultServer() as server:
        smtp = provider(server.url)
        verdict = smtp.send(wanted, timeout_seconds=5)
        smtp.close()
    assert verdict.provider_message_id == f"<{wanted.id}@acme.example>"
    assert f"Message-ID: {verdict.provider_message_id}\r\n".encode() in server.mails[0]


def test_send__nothing_listens__temporary():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    verdict = provider(f"smtp://127.0.0.1:{port}").send(message(), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (T, "connect_refused")


def test_send__name_without_address__temporary(monkeypatch):
    def no_such_name(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    verdict = provider("smtp://mail.example").send(message(), timeout_seconds=5)
    assert (verdict.outcome, verdict.error_code) == (T, "dns_failed")


def test_send__resolver_hangs__ends_at_the_deadline(monkeypatch):
    with SmtpFaultServer() as server:

        def slow(host, port, *args, flags=0, **kwargs):
            if flags:
                raise socket.gaierror(socket.EAI_NONAME, "not numeric")
            server.stopped.wait(30)
            return []

        monkeypatch.setattr(socket, "getaddrinfo", slow)
        began = time.monotonic()
        verdict = provider("smtp://mail.example").send(message(), timeout_seconds=0.3)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (T, "connect_timeout")
    assert took_seconds < 0.8


@pytest.mark.parametrize("step", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize("action", [hang, drip(b"250-", 0.05)], ids=["silent", "dripping"])
def test_send__server_slow_before_the_data__temporary_at_the_deadline(step, action):
    with SmtpFaultServer({step: action}) as server:
        began = time.monotonic()
        verdict = send(server, timeout_seconds=0.4)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (T, "timeout_before_end")
    assert took_seconds < 0.9
    assert server.mails == []


@pytest.mark.parametrize("action", [hang, drip(b"\x16\x03\x03\x40\x00", 0.05)], ids=["silent", "dripping"])
def test_send__tls_handshake_never_ends__temporary_at_the_deadline(action):
    with SmtpFaultServer({"greeting": action}) as server:
        smtp = provider(server.url.replace("smtp:", "smtps:"))
        began = time.monotonic()
        verdict = smtp.send(message(), timeout_seconds=0.4)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (T, "timeout_before_end")
    assert took_seconds < 0.9


@pytest.mark.parametrize("action", [hang, drip(b"250-", 0.05), drip(b"250 2.0.0 ok", 0.05)], ids=["silent", "a", "b"])
def test_send__server_slow_after_the_dot__unconfirmed_at_the_deadline(action):
    with SmtpFaultServer({"end": action}) as server:
        began = time.monotonic()
        verdict = send(server, timeout_seconds=0.4)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (U, "answer_timeout")
    assert took_seconds < 0.9
    assert len(server.mails) == 1


@pytest.fixture
def large_mail(monkeypatch):
    """Built beforehand: building 8 MB would use up the time that the send is given."""
    monkeypatch.setattr(smtp_module, "compose", lambda *args: replace(compose(*args), content=LARGE_CONTENT))


@pytest.mark.usefixtures("large_mail")
@pytest.mark.parametrize("action", [drop, reset], ids=["drop", "reset"])
def test_send__connection_lost_in_the_content__temporary(action):
    with SmtpFaultServer({"content": action}) as server:
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (T, "connection_lost_before_end")
    assert server.mails == []


@pytest.mark.usefixtures("large_mail")
def test_send__server_stops_reading_the_content__temporary_at_the_deadline():
    def stop_reading(conversation):
        conversation.server.stopped.wait(30)

    with SmtpFaultServer({"content": stop_reading}) as server:
        verdict = send(server, timeout_seconds=0.5)
        assert (verdict.outcome, verdict.error_code) == (T, "timeout_before_end")
        assert server.mails == []


@pytest.fixture
def wait_before_check(monkeypatch):
    """Let the server act between the content and the look for an early answer."""

    def arrange(server, event):
        check = Wire.check_nothing_early

        def checked(wire):
            if server.in_content.is_set():
                assert event.wait(5)
            check(wire)

        monkeypatch.setattr(Wire, "check_nothing_early", checked)

    return arrange


@pytest.mark.parametrize("action", [drop, reset], ids=["drop", "reset"])
def test_send__connection_lost_right_before_the_dot__temporary(action, wait_before_check):
    with SmtpFaultServer({"before_dot": action}) as server:
        wait_before_check(server, server.ended)
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (T, "connection_lost_before_end")
    assert server.mails == []


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (b"421 4.3.2 shutting down\r\n", T, "smtp_421_4.3.2"),
        (b"552 5.3.4 too large\r\n", R, "smtp_552_5.3.4"),
        (b"250 2.0.0 taken before its end\r\n", T, "unexpected_reply_before_end"),
        (b"\x16\x03\r\n", T, "garbled_reply_before_end"),
    ],
)
def test_send__answer_before_the_dot__is_never_an_acceptance(reply, outcome, code, wait_before_check):
    with SmtpFaultServer({"before_dot": raw(reply, drop)}) as server:
        wait_before_check(server, server.ended)
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert server.mails == []


@pytest.mark.parametrize("action", [drop, reset], ids=["drop", "reset"])
def test_send__connection_lost_while_the_dot_leaves__unconfirmed(action, monkeypatch):
    """Nobody can tell whether the dot arrived, so the adapter must not claim that it did not."""
    with SmtpFaultServer({"before_dot": action}) as server:
        send_bytes = Wire.send

        def send_late(wire, data):
            if data == b".\r\n":
                assert server.ended.wait(5)
            send_bytes(wire, data)

        monkeypatch.setattr(Wire, "send", send_late)
        monkeypatch.setattr(Wire, "check_nothing_early", lambda wire: None)
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (U, "answer_lost")
    assert server.mails == []


@pytest.mark.parametrize(
    ("script", "options", "outcome", "code"),
    [
        ({}, "?starttls=required", F, "starttls_not_offered"),
        ({"EHLO": STARTTLS_OFFER}, "?starttls=required", F, "smtp_502_5.5.1"),
        ({"EHLO": STARTTLS_OFFER, "STARTTLS": "454 4.7.0 no TLS now"}, "?starttls=required", T, "smtp_454_4.7.0"),
        ({"EHLO": STARTTLS_OFFER, "STARTTLS": "454 4.7.0 no TLS now"}, "", A, ""),
        ({"EHLO": STARTTLS_OFFER, "STARTTLS": drop}, "", T, "connection_lost_before_end"),
        ({"EHLO": STARTTLS_OFFER, "STARTTLS": hang}, "", T, "timeout_before_end"),
        ({"EHLO": STARTTLS_OFFER, "STARTTLS": raw(b"220 go\r\n250 ok\r\n")}, "", T, "garbled_reply_before_end"),
        ({"EHLO": ["502 what?", "250 hello"], "HELO": "250 hello"}, "", A, ""),
    ],
)
def test_send__starttls_goes_wrong__never_in_clear_where_required(script, options, outcome, code):
    with SmtpFaultServer(script) as server:
        verdict = send(server, options=options, timeout_seconds=2)
    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert len(server.mails) == (outcome is A)


def test_send__garbage_instead_of_a_handshake__temporary():
    def garbage(conversation):
        conversation.socket.sendall(b"220 go\r\n")
        conversation.socket.recv(65_536)
        conversation.socket.sendall(b"not TLS at all\r\n" * 4)
        hang(conversation)

    with SmtpFaultServer({"EHLO": STARTTLS_OFFER, "STARTTLS": garbage}) as server:
        verdict = send(server)
    assert (verdict.outcome, verdict.error_code) == (T, "tls_failed")


@pytest.mark.parametrize(
    ("script", "outcome", "code"),
    [
        ({"AUTH": "535 5.7.8 bad credentials for clerk"}, F, "smtp_535_5.7.8"),
        ({"AUTH": "534 5.7.9 too weak"}, F, "smtp_534_5.7.9"),
        ({"AUTH": "454 4.7.0 later"}, T, "smtp_454_4.7.0"),
        ({"AUTH": "454 Throttling failure: Maximum sending rate exceeded."}, T, "smtp_454"),
        ({"AUTH": drop}, T, "connection_lost_before_end"),
        ({"EHLO": "250 hello"}, F, "auth_not_offered"),
        ({"EHLO": "250-hello\r\n250 AUTH CRAM-MD5"}, F, "auth_not_offered"),
    ],
)
def test_send__login_fails__is_the_account_and_never_shown(script, outcome, code):
    with SmtpFaultServer(script) as server:
        verdict = send(server, login="clerk:open%20sesame@", options="?starttls=never")
    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert "clerk" not in verdict.error_message
    assert "sesame" not in verdict.error_message
    assert verdict.throttled == ("Throttling" in str(script))


def test_send__login_without_encryption__is_not_tried():
    with SmtpFaultServer() as server:
        verdict = send(server, login="clerk:sesame@")
    assert (verdict.outcome, verdict.error_code) == (F, "starttls_not_offered")
    assert not any(line.startswith("AUTH") for line in server.commands)


@pytest.mark.parametrize(
    "text",
    [
        "<bob.smith@shop.example>: Recipient address rejected",
        "User bob.smith unknown in shop.example",
        "bob.smith@shop.example... no",
        "spam word Sesame, see https://filter.example/?q=4711 or www.filter.example/4711",
        "code 4711 is not allowed",
        "undeliverable: bounce+bob.smith=shop.example@acme.example",
        "no-reply@acme.example \x1b[31m\u2028\x00 BOB.SMITH",
    ],
)
@pytest.mark.parametrize("step", ["RCPT", "end"])
def test_send__refusal_echoes_private_text__is_hidden(step, text):
    with SmtpFaultServer({step: f"550 5.1.1 {text}"}) as server:
        verdict = send(server)
    shown = verdict.error_message.lower()
    assert verdict.outcome is R
    for private in ("bob", "smith", "shop.example", "sesame", "4711", "acme", "filter.example", "\x1b"):
        assert private not in shown


def test_send__plain_refusal__operator_can_read_it():
    with SmtpFaultServer({"RCPT": "550-5.1.1 The account does not exist.\r\n550 5.1.1 Try another"}) as server:
        verdict = send(server)
    assert verdict.error_message == "answer to RCPT: The account does not exist. Try another"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"subject": "a\r\nBcc: eve@evil.example"}, "invalid_header"),
        ({"subject": "a\nb"}, "invalid_header"),
        ({"from_name": "a\rb"}, "invalid_header"),
        ({"reply_to": "a@b.example\r\nX: y"}, "invalid_header"),
        ({"reply_to": "nobody"}, "invalid_header"),
        ({"recipient": "bob@shop.example>\r\nDATA"}, "invalid_recipient"),
        ({"recipient": "bob@shop.example> SIZE=1"}, "invalid_recipient"),
        ({"recipient": "nobody"}, "invalid_recipient"),
        ({"recipient": "ü@shop.example"}, "smtputf8_not_offered"),
    ],
)
def test_send__message_can_never_be_a_mail__rejected_and_nothing_sent(fields, code):
    with SmtpFaultServer() as server:
        verdict = send(server, **fields)
    assert (verdict.outcome, verdict.error_code) == (R, code)
    assert not any(line.startswith("MAIL") for line in server.commands)


def test_send__internationalised_domain__goes_out_in_ascii():
    with SmtpFaultServer() as server:
        verdict = send(server, recipient="bob@münchen.example")
    assert verdict.outcome is A
    assert "RCPT TO:<bob@xn--mnchen-3ya.example>" in server.commands


@pytest.mark.parametrize(
    ("sender", "code"),
    [
        ({"smtp_url": "http://mail.example"}, "client_smtp_url_invalid"),
        ({"smtp_url": "smtp://a:secret@127.0.0.1:99999"}, "client_smtp_url_invalid"),
        ({"smtp_url": "smtp://127.0.0.1?cafile=/etc/passwd"}, "client_smtp_url_invalid"),
        ({"email_from": "nobody"}, "client_email_from_invalid"),
        ({"email_from": "a@b.example\r\nBcc: c@d.example"}, "client_email_from_invalid"),
    ],
)
def test_send__client_settings_wrong__provider_fault(sender, code):
    with SmtpFaultServer() as server:
        verdict = send(server, sender=sender)
    assert (verdict.outcome, verdict.error_code) == (F, code)
    assert "secret" not in verdict.error_message
    assert server.connection_count == 0


def test_send__client_has_its_own_server__only_that_one_gets_the_mail():
    with SmtpFaultServer() as ours, SmtpFaultServer() as theirs:
        smtp = provider(ours.url)
        sender = {"smtp_url": theirs.url, "email_from": "Shop <hello@shop.example>"}
        outcomes = [smtp.send(message(sender=s), timeout_seconds=5).outcome for s in ({}, sender, {}, sender)]
        smtp.close()
    assert outcomes == [A] * 4
    assert (len(ours.mails), len(theirs.mails)) == (2, 2)
    assert (ours.connection_count, theirs.connection_count) == (1, 1)
    assert b'From: "Shop" <hello@shop.example>' in theirs.mails[0]


# --- kept sessions


def send_twice(server):
    smtp = provider(server.url)
    try:
        return [smtp.send(message(), timeout_seconds=2) for _ in range(2)]
    finally:
        smtp.close()


def test_send__second_mail__uses_the_same_session_and_quits_at_the_end():
    with SmtpFaultServer() as server:
        verdicts = send_twice(server)
    assert [v.outcome for v in verdicts] == [A, A]
    assert (server.connection_count, len(server.mails)) == (1, 2)
    assert [line.split()[0] for line in server.commands] == ["EHLO", *["MAIL", "RCPT", "DATA"] * 2, "QUIT"]


def test_send__after_a_rejection__session_is_reset_and_used_again():
    with SmtpFaultServer({"RCPT": ["550 5.1.1 no", "250 ok"]}) as server:
        verdicts = send_twice(server)
    assert [v.outcome for v in verdicts] == [R, A]
    assert [line.split()[0] for line in server.commands] == [
        "EHLO",
        "MAIL",
        "RCPT",
        "RSET",
        "MAIL",
        "RCPT",
        "DATA",
        "QUIT",
    ]


@pytest.mark.parametrize(
    "second", [drop, reset, "421 4.4.2 idle too long", hang, raw(b"?\r\n")], ids=["drop", "reset", "421", "hang", "?"]
)
def test_send__kept_session_has_died__new_one_is_opened_once(second):
    with SmtpFaultServer({"MAIL": ["250 ok", second, "250 ok"]}) as server:
        verdicts = send_twice(server)
    assert [v.outcome for v in verdicts] == [A, A]
    assert (server.connection_count, len(server.mails)) == (2, 2)


def test_send__kept_session_dies_after_mail__is_not_tried_again():
    with SmtpFaultServer({"RCPT": ["250 ok", drop, "250 ok"]}) as server:
        verdicts = send_twice(server)
    assert [v.error_code for v in verdicts] == ["", "connection_lost_before_end"]
    assert (server.connection_count, len(server.mails)) == (1, 1)


def test_send__server_closed_the_idle_session__new_one_is_opened():
    with SmtpFaultServer({"end": ["250 ok", "250 ok"]}) as server:
        smtp = provider(server.url)
        server.script["end"] = raw(b"250 ok\r\n", drop)
        first = smtp.send(message(), timeout_seconds=2)
        assert server.ended.wait(5)
        second = smtp.send(message(), timeout_seconds=2)
        smtp.close()
    assert (first.outcome, second.outcome) == (A, A)
    assert (server.connection_count, len(server.mails)) == (2, 2)


def test_send__a_surplus_answer_lies_in_the_session__is_never_taken_for_the_next_mails():
    """A second 250 after the first mail must not pass for the answer to the second mail's dot."""
    with SmtpFaultServer({"end": [raw(b"250 ok\r\n250 ok\r\n"), drop]}) as server:
        verdicts = send_twice(server)
    assert [(v.outcome, v.error_code) for v in verdicts] == [(A, ""), (U, "answer_lost")]


def test_close__server_never_says_goodbye__returns_soon():
    with SmtpFaultServer({"QUIT": hang}) as server:
        smtp = provider(server.url)
        assert smtp.send(message(), timeout_seconds=2).outcome is A
        began = time.monotonic()
        smtp.close()
        assert time.monotonic() - began < 2
    assert server.commands[-1] == "QUIT"


@pytest.mark.parametrize(("limit", "value"), [("IDLE_MAX_SECONDS", -1.0), ("MAILS_PER_SESSION_MAX_COUNT", 1)])
def test_send__session_too_old_or_used_up__new_one_is_opened(monkeypatch, limit, value):
    monkeypatch.setattr(smtp_pool, limit, value)
    with SmtpFaultServer() as server:
        verdicts = send_twice(server)
    assert [v.outcome for v in verdicts] == [A, A]
    assert (server.connection_count, server.commands.count("QUIT")) == (2, 2)


def test_send__many_threads_at_once__each_mail_arrives_once():
    messages = [message() for _ in range(60)]
    with SmtpFaultServer() as server:
        smtp = provider(server.url)
        with ThreadPoolExecutor(6) as threads:
            verdicts = list(threads.map(lambda m: smtp.send(m, timeout_seconds=10), messages))
        smtp.close()
    assert [v.provider_message_id for v in verdicts] == [f"<{m.id}@acme.example>" for m in messages]
    arrived = [re.search(rb"Message-ID: <([^@]+)@", mail)[1].decode() for mail in server.mails]
    assert sorted(arrived) == sorted(str(m.id) for m in messages)
    assert server.connection_count <= 6


def test_pool__closed_while_a_session_is_out__ends_it_when_it_comes_back():
    with SmtpFaultServer() as server:
        smtp = provider(server.url)
        smtp.close()
        assert smtp.send(message(), timeout_seconds=2).outcome is A
        assert smtp._pool.take(smtp._server) is None
    assert isinstance(smtp._pool, SessionPool)
