"""What a server's refusal means, and what of its text may be shown. Pure.

Source: RFC 5321 §4.2 and §4.3.2 (replies), RFC 3463 and the IANA registry of enhanced status codes, RFC 4954 §6
(authentication). A 4yz or 5yz to any command, the end of the data included, says that the server has not taken the
message (RFC 5321 §4.2.1, §6.1), so neither is ever UNCONFIRMED.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from enum import StrEnum

from notifications.providers.email.smtp_wire import Reply
from notifications.verdict import Verdict


class Phase(StrEnum):
    """The step that a reply answers."""

    GREETING = "greeting"
    HELLO = "EHLO"
    STARTTLS = "STARTTLS"
    AUTH = "AUTH"
    RESET = "RSET"
    MAIL = "MAIL"
    RCPT = "RCPT"
    DATA = "DATA"
    CONTENT = "content"
    END = "end of data"


# From these on, a permanent refusal speaks of this message; before them, of us.
_ABOUT_THE_MESSAGE = frozenset({Phase.RCPT, Phase.DATA, Phase.CONTENT, Phase.END})
_ACCOUNT_CODES = frozenset(
    {
        502,  # command not implemented: not a server that takes mail from us
        503,  # bad sequence; what qmail, Exim and Courier say for "log in first"
        530,  # authentication required (RFC 4954), or STARTTLS first (RFC 3207)
        534,  # authentication mechanism too weak
        535,  # credentials invalid
        538,  # encryption required for the mechanism
    }
)
# 5.7.1 ("not authorised") is not here: it is also how one recipient's own policy refuses, and must not stop the rest.
_ACCOUNT_STATUS = frozenset(
    {
        *("5.1.7", "5.1.8", "5.7.27"),  # sender's address or domain; Postfix says so only at RCPT
        *("5.3.5",),  # system incorrectly configured
        *("5.7.8", "5.7.9", "5.7.10", "5.7.11", "5.7.13"),  # credentials, mechanism, encryption, account disabled
        *("5.7.20", "5.7.21", "5.7.22", "5.7.23", "5.7.24", "5.7.25", "5.7.26"),  # our DKIM, SPF, DMARC or PTR record
    }
)
# RFC 1870 §6.1: MAIL may be refused for the announced size, which only this message has.
_TOO_LARGE_CODE = 552
_TOO_LARGE_STATUS = frozenset({"5.3.4", "5.2.3"})
_THROTTLED_STATUS = "4.7.28"  # "mail flood detected"
_HIDDEN = "[hidden]"


def refusal(reply: Reply, phase: Phase, private: Iterable[str] = ()) -> Verdict:
    """The verdict for a reply that is not the one hoped for.

    552 and 5.2.2 at RCPT (mailbox full) are REJECTED: RFC 3463 would have the server say 4.2.2 if it were to pass, and
    one that says 5 asks not to be tried again. RFC 5321 §4.5.3.1.10 has 552 mean "too many recipients" as
    well, which a transaction with one recipient never meets.

    Args:
        private: texts of the message and the account, of which nothing may be shown.
    """
    text = f"answer to {phase}: {redact(reply.text, private)}"
    if reply.kind == 4:
        return Verdict.temporary(reply.error_code, text, throttled=_throttled(reply))
    if reply.kind == 5:
        make = Verdict.rejected if _concerns_message(reply, phase) else Verdict.provider_fault
        return make(reply.error_code, text)
    if phase is Phase.END:
        return Verdict.unconfirmed("answer_unclear", f"the server answered {reply.code} to the end of the data")
    return Verdict.temporary("unexpected_reply_before_end", f"the server answered {reply.code} to {phase}")


def redact(text: str, private: Iterable[str]) -> str:
    """The words of `text` that are no address, no link and no part of anything private.

    Servers echo recipients, and filters quote what offended them. A common word that also stands in the body is
    hidden with the rest: the reply's code says what an operator needs.
    """
    known = [p.casefold() for p in private if p]
    whole = set(known)
    everything = "\n".join(known)
    return " ".join(_HIDDEN if _is_private(w.casefold(), whole, everything) else w for w in text.split())


def account_secrets(username: str, password: str) -> list[str]:
    """The account in every form in which a server might echo it."""
    forms = [username, password, f"\0{username}\0{password}"]
    return forms + [base64.b64encode(f.encode()).decode("ascii") for f in forms if f] if username else []


def _is_private(word: str, whole: set[str], everything: str) -> bool:
    if "@" in word or "://" in word or word.startswith("www."):
        return True
    core = word.strip(".,:;!?()[]{}<>\"'`*=")
    if core in whole or any(len(p) >= 4 and p in word for p in whole):
        return True
    telling = len(core) >= 4 or (len(core) == 3 and any(c.isdigit() for c in core))
    return telling and core in everything


def _concerns_message(reply: Reply, phase: Phase) -> bool:
    if phase is Phase.MAIL:
        return reply.code == _TOO_LARGE_CODE or reply.enhanced in _TOO_LARGE_STATUS
    return phase in _ABOUT_THE_MESSAGE and reply.code not in _ACCOUNT_CODES and reply.enhanced not in _ACCOUNT_STATUS


def _throttled(reply: Reply) -> bool:
    """Amazon SES says it in words only: "454 Throttling failure: Maximum sending rate exceeded"."""
    return reply.enhanced == _THROTTLED_STATUS or "throttl" in reply.text.lower()
