"""An SMTP adapter pointed at a fault server, and mails for it."""

import uuid

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.email.smtp import SmtpProvider
from notifications.providers.registry import build
from notifyq.env import Environment
from tests.support.smtp_fault_server import SmtpFaultServer


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
