"""A mailbox as SMTP needs it: local part, ASCII domain, perhaps a display name. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

import idna

ADDRESS_MAX_LENGTH = 254  # octets of a forward path without its brackets (RFC 5321 §4.5.3.1.3, erratum 1690)
LOCAL_PART_MAX_LENGTH = 64

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff]+"
_LOCAL_PART = re.compile(rf'{_ATOM}(?:\.{_ATOM})*|"(?:[^"\\\x00-\x1f\x7f]|\\[\x20-\x7e])*"')
_ASCII_DOMAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?|\[[0-9A-Za-z:.]+\]")
# Invisible or line-breaking anywhere: C0, DEL, C1, the two Unicode line separators, lone surrogates.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Mailbox:
    """One parsed mailbox.

    Attributes:
        local: the part before the last `@`, as given.
        domain: the part after it, in A-labels where it was internationalised, so that any server understands it.
        name: the display name, empty when absent.
    """

    local: str
    domain: str
    name: str = ""

    @property
    def address(self) -> str:
        return f"{self.local}@{self.domain}"

    @property
    def needs_smtputf8(self) -> bool:
        """A non-ASCII local part has no ASCII form (RFC 6531 §3.2); a domain always has one."""
        return not self.local.isascii()


def parse_mailbox(text: str) -> Mailbox:
    """Read `local@domain` or `Name <local@domain>`.

    Raises:
        ValueError: it is no mailbox; the text of the error does not repeat it.
    """
    if _UNPRINTABLE.search(text):
        raise ValueError("it holds a control character")
    text = text.strip()
    name, address = _split_name(text) if text.endswith(">") else ("", text)
    local, at, domain = address.rpartition("@")
    if not at or not _LOCAL_PART.fullmatch(local):
        raise ValueError("it is not a mailbox (name@domain, or Display Name <name@domain>)")
    mailbox = Mailbox(local, ascii_domain(domain), name)
    if len(local.encode()) > LOCAL_PART_MAX_LENGTH or len(mailbox.address.encode()) > ADDRESS_MAX_LENGTH:
        raise ValueError("it is too long for a mailbox")
    return mailbox


def ascii_domain(domain: str) -> str:
    """The domain in A-labels. Names that are not internationalised pass as they are, underscores included.

    Raises:
        ValueError: it is no domain.
    """
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode("ascii")
        except UnicodeError:  # idna.IDNAError is one
            raise ValueError("its domain is not a valid internationalised name") from None
    if not _ASCII_DOMAIN.fullmatch(domain) or ".." in domain:
        raise ValueError("its domain is not valid")
    return domain


def _split_name(text: str) -> tuple[str, str]:
    name, _, address = text[:-1].rpartition("<")
    name = name.strip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return name, address
