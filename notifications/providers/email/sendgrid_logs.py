"""Asks SendGrid's logs for a mail by our key: a search by recipient and time, then the record of each mail found.

The search cannot filter by `custom_args`, and its rows do not show them.

Source: Twilio's OpenAPI description of the email logs (sendgrid-oai, 2026-01) and its page on them, read 2026-11-30.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from urllib.parse import quote

from notifications.providers.base import FoundBy, Lookup
from notifications.providers.http import Answer, proof
from notifications.providers.look_up import absent, cannot_say
from notifications.providers.trouble import read_timeout
from notifications.verdict import Finding, Found, Verdict

# The logs go back 30 days. What could not be told within one will not be told later: a key that may not read them, an
# address that a search may miss. A mail should not wait for weeks until somebody decides.
LOOKUP = Lookup(FoundBy.KEY, settle_seconds=120.0, horizon_seconds=86_400.0)
# Nobody says how far behind the logs may be. Asked from the second minute on, and only believed after an hour.
ABSENT_BELIEVED_AFTER_SECONDS = 3600.0
CLOCK_MARGIN = timedelta(minutes=5)
ROWS_MOST = 10
"""How many mails are read one by one, at most, before we say that we do not know."""

# A query is a text with values in double quotes, and how to escape one in a value is written nowhere.
_QUOTABLE = re.compile(r"[^\"\\\x00-\x1f\x7f]+")
# Of any other address nobody says in what form the logs keep it, so that a search may miss it.
_KEPT_AS_IT_IS = re.compile(r"[a-z0-9._%+-]+@[a-z0-9.-]+")
# What happened to a mail that SendGrid took, and would have answered 202 for.
_TAKEN = frozenset({"processed", "delivered", "deferred", "bounced", "blocked"})
_DROPPED = "dropped"


class Ask(Protocol):
    """Makes one request to SendGrid."""

    def __call__(self, method: str, path: str, seconds: float, **content: Any) -> Answer | Verdict: ...


def find(ask: Ask, *, key: tuple[str, str], recipient: str, since: datetime, seconds: float) -> Finding:
    """What the logs say of the mail whose custom argument `key` (name, value) it is.

    Args:
        seconds: bound on all requests together.

    Returns:
        ABSENT only where every mail to the recipient since then was read and is known to be another.
    """
    ends_at = time.monotonic() + seconds
    if not _QUOTABLE.fullmatch(recipient):
        return Finding.unknown("not_searchable", "the recipient has characters that a search cannot hold")
    listed = ask("POST", "/v3/logs", seconds, json={"query": _query(recipient, since), "limit": ROWS_MOST})
    ids = None if isinstance(listed, Verdict) else _ids(listed)
    if isinstance(listed, Verdict) or ids is None:
        return cannot_say(listed)
    findings = [finding for message_id in ids if (finding := _read(ask, message_id, key, ends_at))]
    for certain in (Found.ACCEPTED, Found.UNKNOWN, Found.REJECTED):
        for finding in findings:
            if finding.found is certain:
                return finding
    if len(ids) >= ROWS_MOST:
        return Finding.unknown("too_many_alike", f"{ROWS_MOST} other mails to the recipient, and perhaps more")
    if not _KEPT_AS_IT_IS.fullmatch(recipient):
        return Finding.unknown("not_searchable", "the recipient has characters with which a search proves no absence")
    return absent(listed, LOOKUP, since=since, believed_after_seconds=ABSENT_BELIEVED_AFTER_SECONDS)


def _query(recipient: str, since: datetime) -> str:
    begin = (since - CLOCK_MARGIN).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f'to_email="{recipient}" AND sg_message_id_created_at > TIMESTAMP "{begin}"'


def _ids(answer: Answer) -> list[str] | None:
    """The id of every row, or None where the answer is not wholly of the documented form."""
    rows = answer.fields().get("messages") if answer.status == 200 else None
    if not isinstance(rows, list):
        return None
    ids = [proof(row.get("sg_message_id")) if isinstance(row, dict) else "" for row in rows]
    return ids if all(ids) else None


def _read(ask: Ask, message_id: str, key: tuple[str, str], ends_at: float) -> Finding | None:
    """What the record of one mail says; None where it is certainly another notification's."""
    seconds = ends_at - time.monotonic()
    if seconds <= 0:
        return cannot_say(read_timeout())
    answer = ask("GET", f"/v3/logs/{quote(message_id, safe='')}", seconds)
    if isinstance(answer, Verdict) or answer.status != 200:
        return cannot_say(answer)
    record = answer.fields()
    arguments = record.get("custom_args")
    if record.get("sg_message_id") != message_id or not isinstance(arguments, dict):
        return cannot_say(answer)
    name, value = key
    return _fate(answer, message_id) if arguments.get(name) == value else None


def _fate(answer: Answer, message_id: str) -> Finding:
    """Its id is then the one that the send was answered with, `X-Message-Id`: the part before the first dot.

    Source: SendGrid's glossary on message ids, and its article on filtering the activity feed, read 2026-11-30.
    """
    status = answer.fields().get("status")
    if status == _DROPPED:
        return Finding.rejected("dropped", "SendGrid took the mail and then dropped it")
    return Finding.accepted(message_id.partition(".")[0] or message_id) if status in _TAKEN else cannot_say(answer)
