"""What the SMTP adapter makes of a failure at each step, and how many whole mails the server has got by then."""

import socket
import time
from dataclasses import replace

import pytest

from notifications.providers.email import smtp as smtp_module
from notifications.providers.email.mime import compose
from notifications.providers.email.smtp_wire import Wire
from notifications.verdict import Outcome
from tests.support.smtp_fault_server import SmtpFaultServer, drip, drop, hang, raw, reset
from tests.support.smtp_sending import message, provider, send

A, R, T, F, U = (
    Outcome.ACCEPTED,
    Outcome.REJECTED,
    Outcome.TEMPORARY,
    Outcome.PROVIDER_FAULT,
    Outcome.UNCONFIRMED,
)
# 8 MB, more than the buffers of both sockets.
LARGE_CONTENT = b"Subject: large\r\n\r\n" + (b"x" * 62 + b"\r\n") * 130_000


@pytest.mark.parametrize(
    ("step", "action", "outcome", "code"),
    [
        ("greeting", "421 4.3.2 shutting down", T, "smtp_421_4.3.2"),
        ("greeting", "554 5.7.1 no service for you", F, "smtp_554_5.7.1"),
        ("greeting", drop, T, "connection_lost_before_end"),
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


def test_send__reset_instead_of_a_greeting__temporary():
    with SmtpFaultServer({"greeting": reset}) as server:
        verdict = send(server)
    assert verdict.outcome is T
    # The reset may arrive while the kernel is still finishing the connect.
    assert verdict.error_code in ("connect_failed", "connection_lost_before_end")


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
    assert took_seconds < 5


@pytest.mark.parametrize("step", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize("action", [hang, drip(b"250-", 0.05)], ids=["silent", "dripping"])
def test_send__server_slow_before_the_data__temporary_at_the_deadline(step, action):
    with SmtpFaultServer({step: action}) as server:
        began = time.monotonic()
        verdict = send(server, timeout_seconds=0.4)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (T, "timeout_before_end")
    assert took_seconds < 5
    assert server.mails == []


@pytest.mark.parametrize("action", [hang, drip(b"\x16\x03\x03\x40\x00", 0.05)], ids=["silent", "dripping"])
def test_send__tls_handshake_never_ends__temporary_at_the_deadline(action):
    with SmtpFaultServer({"greeting": action}) as server:
        smtp = provider(server.url.replace("smtp:", "smtps:"))
        began = time.monotonic()
        verdict = smtp.send(message(), timeout_seconds=0.4)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (T, "timeout_before_end")
    assert took_seconds < 5


@pytest.mark.parametrize("action", [hang, drip(b"250-", 0.05), drip(b"250 2.0.0 ok", 0.05)], ids=["silent", "a", "b"])
def test_send__server_slow_after_the_dot__unconfirmed_at_the_deadline(action):
    with SmtpFaultServer({"end": action}) as server:
        began = time.monotonic()
        verdict = send(server, timeout_seconds=0.4)
        took_seconds = time.monotonic() - began
    assert (verdict.outcome, verdict.error_code) == (U, "answer_timeout")
    assert took_seconds < 5
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
