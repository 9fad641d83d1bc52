"""What the e-mail builder writes, read back by the standard library's parser."""

import uuid
from email import message_from_bytes, policy
from email.header import decode_header, make_header

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.email.envelope import InvalidContentError
from notifications.providers.email.mailbox import Mailbox, parse_mailbox
from notifications.providers.email.mime import compose, wire_form

SENDER = Mailbox("no-reply", "acme.example", "Acme")
ONE_LINE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=300)
SOME = settings(max_examples=60, deadline=None)
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=200)


def build(sender=SENDER, **fields):
    values = {"id": uuid.uuid4(), "channel": Channel.EMAIL, "recipient": "bob@shop.example", "body": "Hello"}
    return compose(Message(**{**values, **fields}), sender)


def unstuffed(mail):
    return mail.content.replace(b"\r\n..", b"\r\n.")


def parsed(mail):
    return message_from_bytes(unstuffed(mail), policy=policy.default)


def raw_header(mail, name):
    """Decoded as RFC 2047 says; the structured parser of Python 3.11 keeps the space between encoded words."""
    return str(make_header(decode_header(message_from_bytes(unstuffed(mail), policy=policy.compat32)[name])))


def normalised(text):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text if text.endswith("\n") else text + "\n"


@SOME
@given(subject=ONE_LINE)
def test_compose__any_subject__is_read_back_the_same(subject):
    mail = build(subject=subject)
    assert parsed(mail)["Subject"] == subject.strip()
    assert all(len(line) <= 78 for line in mail.content.partition(b"\r\n\r\n")[0].split(b"\r\n"))


@pytest.mark.parametrize(
    "subject",
    [
        "x" * 255,
        "x" * 2000,
        "word " * 50 + "end",
        "x" * 70 + " é end",
        "=?utf-8?q?a?=",
        "é" * 255,
        "a  b   " * 30 + "c",
        "",
    ],
)
def test_compose__awkward_subject__is_read_back_the_same(subject):
    assert parsed(build(subject=subject))["Subject"] == subject


@SOME
@given(body=ANY_TEXT)
def test_compose__any_body__is_read_back_the_same(body):
    mail = build(body=body)
    assert normalised(parsed(mail).get_content()) == normalised(body)


@SOME
@given(body=ANY_TEXT, html=ANY_TEXT.filter(bool))
def test_compose__any_content__is_seven_bit_and_in_short_lines(body, html):
    content = build(body=body, html_body=html).content
    assert content.isascii()
    assert b"\0" not in content
    assert content.endswith(b"\r\n")
    lines = content.split(b"\r\n")
    assert all(len(line) <= 998 and b"\r" not in line and b"\n" not in line for line in lines)
    assert all(not line.startswith(b".") or line.startswith(b"..") for line in lines)


@SOME
@given(name=ONE_LINE)
def test_compose__any_sender_name__is_one_mailbox_with_that_name(name):
    mail = build(from_name=name)
    wanted = name.strip() or "Acme"
    assert raw_header(mail, "From").replace("\n", "").endswith("<no-reply@acme.example>")
    addresses = parsed(mail)["From"].addresses
    assert [a.addr_spec for a in addresses] == ["no-reply@acme.example"]
    assert addresses[0].display_name.replace(" ", "") == wanted.replace(" ", "")


def test_compose__html_body__is_the_second_alternative():
    mail = parsed(build(body="plain", html_body="<p>rich</p>"))
    assert mail.get_content_type() == "multipart/alternative"
    assert [(p.get_content_type(), p.get_content().strip()) for p in mail.iter_parts()] == [
        ("text/plain", "plain"),
        ("text/html", "<p>rich</p>"),
    ]


def test_compose__second_attempt__has_the_same_message_id():
    notification_id = uuid.uuid4()
    ids = {build(id=notification_id, attempt_number=n).message_id for n in (1, 2)}
    assert ids == {f"<{notification_id}@acme.example>"}


def test_compose__headers__say_who_and_that_a_machine_wrote():
    mail = parsed(build(reply_to="Help <help@acme.example>", subject="Hi"))
    assert mail["To"] == "bob@shop.example"
    assert mail["Reply-To"].addresses[0].addr_spec == "help@acme.example"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Date"].datetime.tzinfo is not None
    assert mail["Date"].endswith(" +0000")  # RFC 5322 §4.3: zones by name must not be generated
    assert mail["MIME-Version"] == "1.0"
    assert not mail.defects


def test_compose__longest_addresses__are_not_broken():
    address = "r" * 64 + "@" + "sub." * 45 + "example"
    mail = parsed(build(Mailbox("s" * 64, "sub." * 45 + "example", "Ünï " * 20), recipient=address, reply_to=address))
    assert mail["To"].addresses[0].addr_spec == address
    assert mail["Reply-To"].addresses[0].addr_spec == address
    assert mail["From"].addresses[0].domain == "sub." * 45 + "example"


@pytest.mark.parametrize("field", ["subject", "from_name"])
@pytest.mark.parametrize("line_break", ["\r\n", "\n", "\r"])
def test_compose__line_break_in_a_header__is_refused(field, line_break):
    with pytest.raises(InvalidContentError) as refused:
        build(**{field: f"a{line_break}Bcc: eve@evil.example"})
    assert refused.value.code == "invalid_header"
    assert "eve" not in str(refused.value)


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\0", "\ud800"])
def test_compose__other_separators_in_a_header__cannot_begin_another(separator):
    mail = build(subject=f"a{separator}Bcc: eve@evil.example")
    assert parsed(mail)["Bcc"] is None


@pytest.mark.parametrize(
    ("raw", "wire"),
    [
        (b".", b"..\r\n"),
        (b".\n.", b"..\r\n..\r\n"),
        (b"a\r.\rb", b"a\r\n..\r\nb\r\n"),
        (b"a\n\r.\r\n", b"a\r\n\r\n..\r\n"),
        (b"a.b\r\n", b"a.b\r\n"),
        (b"", b"\r\n"),
    ],
)
def test_wire_form__line_ends_and_dots__cannot_end_the_data(raw, wire):
    assert wire_form(raw) == wire


@pytest.mark.parametrize(
    ("text", "name", "address", "utf8"),
    [
        ("a@b", "", "a@b", False),
        ("Acme <a@b.example>", "Acme", "a@b.example", False),
        ('"Müller, \\"H\\"" <a.b+c@b.example>', 'Müller, "H"', "a.b+c@b.example", False),
        ("<a@b.example>", "", "a@b.example", False),
        ('"a b"@b.example', "", '"a b"@b.example', False),
        ("ü@münchen.example", "", "ü@xn--mnchen-3ya.example", True),
        ("a@faß.example", "", "a@xn--fa-hia.example", False),
        ("a@[127.0.0.1]", "", "a@[127.0.0.1]", False),
        ("a@app.localhost", "", "a@app.localhost", False),
    ],
)
def test_parse_mailbox__valid__gives_its_parts(text, name, address, utf8):
    mailbox = parse_mailbox(text)
    assert (mailbox.name, mailbox.address, mailbox.needs_smtputf8) == (name, address, utf8)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "@b",
        "a@",
        "a b@c.example",
        "a@b..example",
        "a@b.example, c@d.example",
        "a@b.example\n",
        "a@-.example>",
        "<a@b.example",
        ".a@b.example",
        "a@b c.example",
        "x" * 65 + "@b.example",
        "a@" + "sub." * 63 + "example",
        "a@\ud800.example",
        "a@b\u2028.example",
    ],
)
def test_parse_mailbox__invalid__is_refused_without_repeating_it(text):
    with pytest.raises(ValueError, match=r"^it") as refused:
        parse_mailbox(text)
    assert len(text) < 3 or text not in str(refused.value)
