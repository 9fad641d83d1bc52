"""Finding a message at Twilio by recipient, sender, time and text: exactly one match counts.

The list cannot be narrowed to a time without losing what is not sent yet (`DateSent` is null until then), and its order
is not promised for such messages: so it is read to its end, or says nothing.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

from notifications.providers.base import FoundBy, Lookup, Message
from notifications.providers.http import Answer, proof
from notifications.providers.look_up import absent, cannot_say
from notifications.verdict import Finding, Verdict

LOOKUP = Lookup(FoundBy.MATCH, settle_seconds=120.0, horizon_seconds=86_400.0)
ABSENT_AFTER_SECONDS = 600.0
PAGE_SIZE = 20
"""Even of long texts so many fit into an answer that we read."""
PAGES_MOST = 25
# Twilio's clock and ours may differ, so what was created shortly before `since` may be ours or may not.
CLOCKS_DIFFER = timedelta(seconds=120)

GetPage = Callable[[str, float], Answer | Verdict]


def list_path(account_sid: str) -> str:
    return f"/2010-04-01/Accounts/{account_sid}/Messages.json"


class _NotUnderstood(Exception):
    """Something in the list is not as documented."""


@dataclass
class Search:
    """One look-up.

    Attributes:
        sender: a number, a name, or the SID of a messaging service, which picks the number by itself.
        since: no message that was created before is ours.
    """

    message: Message
    sender: str
    since: datetime
    path: str
    _matches: list[str] = field(default_factory=list)
    _is_doubtful: bool = False

    def run(self, get_page: GetPage, *, timeout_seconds: float) -> Finding:
        """Read page after page.

        Args:
            get_page: makes one GET of a path within so many seconds.
            timeout_seconds: bound on all pages together.
        """
        ends = time.monotonic() + timeout_seconds
        path = self._first_path()
        for _ in range(PAGES_MOST):
            remaining = ends - time.monotonic()
            if remaining <= 0:
                return Finding.unknown("look_up_timeout", "the list could not be read to its end in time")
            answer = get_page(path, remaining)
            if isinstance(answer, Verdict) or answer.status != 200:
                return cannot_say(answer)
            try:
                path = self._read(answer)
            except _NotUnderstood:
                return cannot_say(answer)
            if not path:
                return self._finding(answer)
        return Finding.unknown("list_too_long", f"more than {PAGES_MOST * PAGE_SIZE} messages to the recipient")

    def _first_path(self) -> str:
        narrowed = {"To": self.message.recipient, "PageSize": str(PAGE_SIZE)}
        if not self.sender.startswith("MG"):
            narrowed["From"] = self.sender
        return f"{self.path}?{urlencode(narrowed)}"

    def _read(self, answer: Answer) -> str:
        """Take one page in; the path of the next, or nothing after the last."""
        fields = answer.fields()
        messages, following = fields.get("messages"), fields.get("next_page_uri", "missing")
        if not isinstance(messages, list):
            raise _NotUnderstood
        for message in messages:
            self._consider(message)
        if following is None:
            return ""
        # Only ever the same list of the same host: credentials go along.
        if not isinstance(following, str) or not following.startswith(f"{self.path}?"):
            raise _NotUnderstood
        return following

    def _consider(self, item: object) -> None:
        if not isinstance(item, Mapping):
            raise _NotUnderstood
        sid, body, created = proof(item.get("sid")), item.get("body"), _instant(item.get("date_created"))
        if not sid or item.get("to") != self.message.recipient or not isinstance(item.get("direction"), str):
            raise _NotUnderstood
        if not item["direction"].startswith("outbound") or created < self.since - CLOCKS_DIFFER:
            return
        if body == self.message.body and created >= self.since.replace(microsecond=0):
            self._matches.append(sid)
        elif self._may_be_ours(body):
            self._is_doubtful = True

    def _may_be_ours(self, body: Any) -> bool:
        """The text may have been redacted, put behind the words of a trial account, or had characters replaced."""
        if not isinstance(body, str) or not body:
            return True
        return _essence(self.message.body) in _essence(body)

    def _finding(self, last: Answer) -> Finding:
        if len(self._matches) == 1 and not self._is_doubtful:
            return Finding.accepted(self._matches[0])
        if self._matches or self._is_doubtful:
            return Finding.unknown("ambiguous_match", "more than one message may be this one, or one only resembles it")
        return absent(last, LOOKUP, since=self.since, believed_after_seconds=ABSENT_AFTER_SECONDS)


def _instant(value: object) -> datetime:
    if not isinstance(value, str):
        raise _NotUnderstood
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise _NotUnderstood from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _essence(text: str) -> str:
    """Letters and digits only: what is left when look-alikes of quotes, dashes and spaces were exchanged."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
