"""Who an e-mail is from and to, checked before any server or vendor sees it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from notifications.errors import ConfigurationError
from notifications.providers.base import Message, ProviderSettings
from notifications.providers.email.mailbox import Mailbox, parse_mailbox
from notifications.verdict import Verdict

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_HEADER_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class InvalidContentError(Exception):
    """This message can never be an e-mail. `code` is the verdict's error code; the text repeats no content."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Envelope:
    """The checked parts of one e-mail.

    Attributes:
        sender: with the display name to be shown.
        message_id: the `Message-ID` with its brackets, the same on every attempt of one notification.
        subject: one line.
        text, html: without lone surrogates, which no encoding has; `html` empty when absent.
    """

    sender: Mailbox = field(repr=False)
    recipient: Mailbox = field(repr=False)
    reply_to: Mailbox | None = field(repr=False)
    message_id: str
    subject: str = field(repr=False)
    text: str = field(repr=False)
    html: str = field(repr=False)


def read_sender(settings: ProviderSettings) -> Mailbox:
    """NOTIFYQ_EMAIL_FROM.

    Raises:
        ConfigurationError: it is missing or no mailbox.
    """
    try:
        return parse_mailbox(settings.text("EMAIL_FROM"))
    except ValueError as error:
        raise ConfigurationError(f"NOTIFYQ_EMAIL_FROM is wrong: {error}") from None


def sender_of(message: Message, default: Mailbox) -> Mailbox | Verdict:
    """The client's own `email_from` where it has one, else `default`; or the verdict on a wrong one."""
    text = message.sender.get("email_from")
    try:
        return parse_mailbox(text) if text else default
    except ValueError as error:
        reason = f"the client's sender address is wrong: {error}"
        return Verdict.provider_fault("client_email_from_invalid", reason)


def address(message: Message, default_sender: Mailbox) -> Envelope | Verdict:
    """The envelope of a message, or the verdict where there can be none."""
    sender = sender_of(message, default_sender)
    if isinstance(sender, Verdict):
        return sender
    try:
        return envelope(message, sender)
    except InvalidContentError as error:
        return Verdict.rejected(error.code, str(error))


def envelope(message: Message, sender: Mailbox) -> Envelope:
    """The envelope of a message from `sender`, whose display name the message's own replaces.

    Raises:
        InvalidContentError: `invalid_recipient`, or `invalid_header` (a line break in subject, name or reply address).
    """
    recipient = replace(_mailbox(message.recipient, "invalid_recipient", "the recipient"), name="")
    reply_to = _mailbox(message.reply_to, "invalid_header", "replyTo") if message.reply_to else None
    return Envelope(
        sender=replace(sender, name=_one_line(message.from_name, "fromName") or _one_line(sender.name, "the sender")),
        recipient=recipient,
        reply_to=reply_to,
        message_id=f"<{message.id}@{sender.domain}>",
        subject=_one_line(message.subject, "subject"),
        text=_encodable(message.body),
        html=_encodable(message.html_body),
    )


def quoted_form(mailbox: Mailbox) -> str:
    """`"Name" <local@domain>`, the name in quotes whatever it holds, or the bare address."""
    if not mailbox.name:
        return mailbox.address
    quoted = re.sub(r'(["\\])', r"\\\1", mailbox.name)
    return f'"{quoted}" <{mailbox.address}>'


def _encodable(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def _one_line(value: str, field: str) -> str:
    if "\r" in value or "\n" in value:
        raise InvalidContentError("invalid_header", f"{field} holds a line break")
    return _HEADER_CONTROL.sub(" ", _encodable(value)).strip()


def _mailbox(text: str, code: str, field: str) -> Mailbox:
    try:
        return parse_mailbox(text)
    except ValueError as error:
        raise InvalidContentError(code, f"{field}: {error}") from None
