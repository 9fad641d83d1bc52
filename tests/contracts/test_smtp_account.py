"""The SMTP adapter and a server that misbehaves: encryption, login, private text, a client's own settings."""

import pytest

from notifications.verdict import Outcome
from tests.support.smtp_fault_server import SmtpFaultServer, drop, hang, raw
from tests.support.smtp_sending import message, provider, send

A, R, T, F = Outcome.ACCEPTED, Outcome.REJECTED, Outcome.TEMPORARY, Outcome.PROVIDER_FAULT
STARTTLS_OFFER = "250-fault.example\r\n250 STARTTLS"


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
