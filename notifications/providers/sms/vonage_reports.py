"""What Vonage's records say of a message. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from notifications.providers.base import FoundBy, Lookup, Message
from notifications.providers.http import Answer, proof
from notifications.providers.look_up import absent, cannot_say
from notifications.providers.sms.account import digits
from notifications.verdict import Finding, Verdict

# One query spans at most a day; the horizon leaves room for clocks that differ.
LOOKUP = Lookup(FoundBy.KEY, settle_seconds=300.0, horizon_seconds=82_800.0)
ABSENT_AFTER_SECONDS = 900.0
PRODUCTS = ("MESSAGES", "SMS")
_CLOCKS_DIFFER = timedelta(seconds=120)
_ID_FIELDS = ("message_uuid", "message_id", "id")


def query(message: Message, product: str, account_id: str, since: datetime) -> dict[str, str]:
    """The parameters of one request: everything to the recipient from `since` until now, without the texts."""
    return {
        "account_id": account_id,
        "product": product,
        "direction": "outbound",
        "date_start": (since - _CLOCKS_DIFFER).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "to": digits(message.recipient),
    }


def found_in(answer: Answer | Verdict, message: Message, since: datetime) -> Finding:
    """Look for our key. A record without any key may be ours, and a list that is cut off may lack it."""
    if isinstance(answer, Verdict) or answer.status != 200:
        return cannot_say(answer)
    fields = answer.fields()
    records, is_whole = fields.get("records"), fields.get("request_status") == "SUCCESS"
    if not isinstance(records, list) or not all(isinstance(record, Mapping) for record in records):
        return cannot_say(answer)
    for record in records:
        if record.get("client_ref") == str(message.id) and (found := _id_of(record)):
            return Finding.accepted(found)
    if not is_whole or any(_may_be_ours(record, message) for record in records):
        return Finding.unknown("unclear_records", "the records are cut off, or one of them names no key")
    return absent(answer, LOOKUP, since=since, believed_after_seconds=ABSENT_AFTER_SECONDS)


def _may_be_ours(record: Mapping[str, object], message: Message) -> bool:
    key, recipient = record.get("client_ref"), record.get("to")
    if isinstance(key, str) and key and key != str(message.id):
        return False
    return not isinstance(recipient, str) or digits(recipient) == digits(message.recipient)


def _id_of(record: Mapping[str, object]) -> str:
    return next((found for name in _ID_FIELDS if (found := proof(record.get(name)))), "")
