"""The SMTP adapter's settings: what an URL means, and that a wrong one is one line without its password."""

import pytest

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import DuplicateHarm
from notifications.providers.email.smtp_settings import SmtpServer, Tls, parse_server_url
from notifications.providers.registry import build
from notifyq.env import Environment

FROM = {"NOTIFYQ_EMAIL_FROM": "Acme <no-reply@acme.example>"}


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example", SmtpServer("mail.example", 25, Tls.OPPORTUNISTIC)),
        ("smtp://mail.example:2525/", SmtpServer("mail.example", 2525, Tls.OPPORTUNISTIC)),
        ("smtp://u:p@mail.example", SmtpServer("mail.example", 587, Tls.REQUIRED, "u", "p")),
        ("smtp://u%40x:p%2F%3A%40%25@mail.example", SmtpServer("mail.example", 587, Tls.REQUIRED, "u@x", "p/:@%")),
        ("smtp://u:p@mail.example?starttls=never", SmtpServer("mail.example", 587, Tls.NEVER, "u", "p")),
        ("smtp://mail.example?starttls=required", SmtpServer("mail.example", 25, Tls.REQUIRED)),
        ("smtps://u:p@mail.example", SmtpServer("mail.example", 465, Tls.IMPLICIT, "u", "p")),
        ("smtps://mail.example:587", SmtpServer("mail.example", 587, Tls.IMPLICIT)),
        ("smtp://[::1]:25", SmtpServer("::1", 25, Tls.OPPORTUNISTIC)),
        ("smtp://münchen.example", SmtpServer("xn--mnchen-3ya.example", 25, Tls.OPPORTUNISTIC)),
        ("smtp://mail_relay:25", SmtpServer("mail_relay", 25, Tls.OPPORTUNISTIC)),
    ],
)
def test_parse_server_url__valid__means_this_server(url, server):
    assert parse_server_url(url) == server


WRONG_URLS = [
    "mail.example",
    "http://mail.example",
    "smtp://",
    "smtp://mail.example:0",
    "smtp://mail.example:99999",
    "smtp://clerk:s3same@mail.example:x",
    "smtp://clerk:s3same/part@mail.example",
    "smtp://clerk:s3same#part@mail.example",
    "smtp://clerk:s3same?part@mail.example",
    "smtp://clerk@mail.example",
    "smtp://:s3same@mail.example",
    "smtp://clerk:s3same%00@mail.example",
    "smtp://clerk:s3same@mail..example",
    "smtp://mail.example?starttls=maybe",
    "smtps://mail.example?starttls=never",
    "smtp://mail.example?verify=false",
    "smtp://mail.example?cafile=/no/such/file.pem",
    f"smtp://mail.example?cafile={__file__}",  # no certificate in it
    "smtp://mail\n.example",
    "smtp://[::1",
]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_from_settings__wrong_url__is_one_line_that_names_the_variable(url):
    with pytest.raises(ConfigurationError) as wrong:
        build("smtp", Environment({**FROM, "NOTIFYQ_SMTP_URL": url}))
    assert str(wrong.value).startswith("NOTIFYQ_SMTP_URL ")
    assert "\n" not in str(wrong.value)
    assert "s3same" not in str(wrong.value)
    assert "clerk" not in str(wrong.value)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        (FROM, "NOTIFYQ_SMTP_URL"),
        ({"NOTIFYQ_SMTP_URL": "smtp://mail.example"}, "NOTIFYQ_EMAIL_FROM"),
        ({"NOTIFYQ_SMTP_URL": "smtp://mail.example", "NOTIFYQ_EMAIL_FROM": "nobody"}, "NOTIFYQ_EMAIL_FROM"),
        ({"NOTIFYQ_SMTP_URL": "smtp://mail.example", "NOTIFYQ_EMAIL_FROM": "a@b\nX: y"}, "NOTIFYQ_EMAIL_FROM"),
    ],
)
def test_from_settings__missing_or_wrong__names_the_variable(variables, named):
    with pytest.raises(ConfigurationError, match=f"^{named} "):
        build("smtp", Environment(variables))


def test_from_settings__label__reads_its_own_url():
    settings = Environment({**FROM, "NOTIFYQ_SMTP_BACK_UP_URL": "smtp://backup.example", "NOTIFYQ_SMTP_URL": "bad"})
    provider = build("smtp:back-up", settings)
    assert (provider.kind, provider.name) == ("smtp", "smtp:back-up")


def test_capabilities__smtp__promises_nothing_it_cannot_do():
    provider = build("smtp", Environment({**FROM, "NOTIFYQ_SMTP_URL": "smtp://mail.example"}))
    assert provider.channels == {Channel.EMAIL}
    assert not provider.capabilities.dedupes
    assert not provider.capabilities.lookup
    assert not provider.capabilities.receipts_carry_key
    assert provider.capabilities.duplicate_harm is DuplicateHarm.VISIBLE


def test_server__repr__hides_the_login():
    shown = repr(parse_server_url("smtp://clerk:s3same@mail.example"))
    assert "clerk" not in shown
    assert "s3same" not in shown
