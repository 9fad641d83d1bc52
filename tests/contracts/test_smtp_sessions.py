"""Sessions that the SMTP adapter keeps open between mails: used again, renewed when dead, never trusted blindly."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from notifications.providers.email import smtp_pool
from notifications.verdict import Outcome
from tests.support.smtp_fault_server import SmtpFaultServer, drop, hang, raw, reset
from tests.support.smtp_sending import message, provider

A, R, U = Outcome.ACCEPTED, Outcome.REJECTED, Outcome.UNCONFIRMED


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
        assert time.monotonic() - began < 5
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
    arrived = re.findall(r"Message-ID: <([^@]+)@", b"".join(server.mails).decode())
    assert sorted(arrived) == sorted(str(m.id) for m in messages)
    assert server.connection_count <= 6


def test_pool__closed_while_a_session_is_out__ends_it_when_it_comes_back():
    with SmtpFaultServer() as server:
        smtp = provider(server.url)
        smtp.close()
        assert smtp.send(message(), timeout_seconds=2).outcome is A
        assert smtp._pool.take(smtp._server) is None
