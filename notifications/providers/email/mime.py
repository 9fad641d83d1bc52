"""Turns a message into the bytes of an e-mail: headers, MIME parts, CRLF and dot-stuffing. Pure but for the date.

The header lines are written here and not by `EmailMessage`, whose folding adds a space where ASCII and other text mix
in a long subject and empties a subject that looks like an encoded word; the MIME parts are `EmailMessage`'s.
"""

from __future__ import annotations

import base64
import email.policy
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

from notifications.providers.base import Message
from notifications.providers.email.envelope import Envelope, envelope, quoted_form
from notifications.providers.email.mailbox import Mailbox

LINE_LENGTH = 78  # RFC 5322 §2.1.1: lines SHOULD be at most this long, and MUST be at most 998
ENCODED_LINE_LENGTH = 76  # RFC 2047 §2, for a line with an encoded word
ENCODED_WORD_FRAME = len("=?utf-8?b??=")

# Everything as 7bit, quoted-printable or base64: no server needs 8BITMIME for it, no relay can break a line of it.
_SEVEN_BIT = email.policy.SMTP.clone(cte_type="7bit")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ANY_LINE_END = re.compile(rb"\r\n|\r|\n")
_LEADING_DOT = re.compile(rb"^\.", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mail:
    """What goes over the wire.

    Attributes:
        sender, recipient: the envelope.
        message_id: the `Message-ID`, the same on every attempt of one notification.
        content: headers and body, dot-stuffed, every line ended by CRLF, without the final dot.
        needs_smtputf8: an address in envelope or headers has a non-ASCII local part.
    """

    sender: Mailbox
    recipient: Mailbox
    message_id: str
    content: bytes
    needs_smtputf8: bool


def compose(message: Message, sender: Mailbox) -> Mail:
    """Build the e-mail for one attempt. A repeat has the same Message-ID; date and MIME boundary differ.

    Raises:
        InvalidContentError: `invalid_recipient`, or `invalid_header` (a line break in subject, name or reply address).
    """
    parties = envelope(message, sender)
    reply_to = parties.reply_to
    headers = [
        _address_header("From", parties.sender),
        _address_header("To", parties.recipient),
        *([_address_header("Reply-To", reply_to)] if reply_to else []),
        _text_header("Subject", parties.subject),
        f"Date: {format_datetime(datetime.now(UTC))}",  # +0000: RFC 5322 §4.3 forbids generating GMT
        f"Message-ID: {parties.message_id}",
        "Auto-Submitted: auto-generated",  # RFC 3834 §5: keeps vacation replies away
    ]
    raw = "\r\n".join(headers).encode() + b"\r\n" + _parts(parties).as_bytes()
    utf8 = any(m.needs_smtputf8 for m in (sender, parties.recipient, reply_to) if m)
    return Mail(sender, parties.recipient, parties.message_id, wire_form(raw), utf8)


def wire_form(raw: bytes) -> bytes:
    """CRLF at every line end, the last included, and a second dot before a leading one (RFC 5321 §4.5.2)."""
    lines = _ANY_LINE_END.sub(b"\r\n", raw)
    if not lines.endswith(b"\r\n"):
        lines += b"\r\n"
    return _LEADING_DOT.sub(b"..", lines)


def _parts(parties: Envelope) -> EmailMessage:
    parts = EmailMessage(policy=_SEVEN_BIT)
    parts.set_content(parties.text, cte=_transfer_encoding(parties.text))
    if parties.html:
        parts.add_alternative(parties.html, subtype="html", cte=_transfer_encoding(parties.html))
    return parts


def _transfer_encoding(text: str) -> str | None:
    """None leaves the choice to `EmailMessage`, which would put control characters on the wire as they are."""
    return "quoted-printable" if _CONTROL.search(text) else None


def _address_header(header: str, mailbox: Mailbox) -> str:
    if not mailbox.name:
        return f"{header}: {mailbox.address}"
    quoted = quoted_form(mailbox).removesuffix(f" <{mailbox.address}>")
    plain = is_plain(mailbox.name) and len(header) + 2 + len(quoted) <= LINE_LENGTH
    phrase = quoted if plain else encoded_words(mailbox.name, len(header) + 2)
    last_line = f"{header}: {phrase} <{mailbox.address}>".rpartition("\r\n")[2]
    gap = " " if len(last_line) <= LINE_LENGTH else "\r\n "
    return f"{header}: {phrase}{gap}<{mailbox.address}>"


def _text_header(header: str, value: str) -> str:
    """Readable where that is exact after unfolding, else encoded words (which survive any folding)."""
    plain = is_plain(value) and "  " not in value
    lines = _folded(f"{header}: {value}") if plain else []
    if plain and all(len(line) <= LINE_LENGTH for line in lines):
        return "\r\n".join(lines)
    return f"{header}: {encoded_words(value, len(header) + 2)}"


def _folded(line: str) -> list[str]:
    name, *words = line.split(" ")
    lines = [name + " " + words[0]]  # never an empty first line: some servers refuse it
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= LINE_LENGTH:
            lines[-1] += " " + word
        else:
            lines.append(" " + word)
    return lines


def is_plain(text: str) -> bool:
    """Whether it can stand in a header as it is, and not be taken for an encoded word."""
    return text.isascii() and "=?" not in text


def encoded_words(text: str, column: int) -> str:
    """RFC 2047 words of whole characters, one a line; the first begins at `column`."""
    chunks, room = [""], _base64_room(column)
    for character in text:
        width = len(character.encode())
        if width > room:
            chunks.append("")
            room = _base64_room(1)
        chunks[-1] += character
        room -= width
    return "\r\n ".join(f"=?utf-8?b?{base64.b64encode(c.encode()).decode('ascii')}?=" for c in chunks)


def _base64_room(column: int) -> int:
    """How many bytes an encoded word may hold on a line that has `column` characters already."""
    return (ENCODED_LINE_LENGTH - ENCODED_WORD_FRAME - column) // 4 * 3
