"""Text messages through BulkSMS, which drops repeats: of the vendors of text messages the only one.

Its `deduplication-id` is a number of 31 bits that it remembers for about twelve hours: the content's serial. Our key
goes along as `userSuppliedId`, by which a message can be asked for and which comes back in receipts.

Source: BulkSMS's description of its JSON API (OpenAPI 3, version 1.0.0), 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, DuplicateHarm, FoundBy, Lookup, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.look_up import absent, cannot_say
from notifications.providers.setting_names import SettingNames
from notifications.providers.sms import account, short_key
from notifications.verdict import Finding, Verdict

DEFAULT_URL = "https://api.bulksms.com"
DEDUPE_SECONDS = 11 * 3600.0  # "about 12 hours": an hour is left for "about"
LOOKUP = Lookup(FoundBy.KEY, settle_seconds=60.0, horizon_seconds=86_400.0)
ABSENT_AFTER_SECONDS = 300.0
PARTS_MOST = 60
"""More than any body needs: how long a message may be is decided before, and its own default of 3 is too few."""

# The last part of an error's `type`.
_REFUSED = {"bad-request": "the message is not valid"}
_ACCOUNT_TROUBLE = {"insufficient-credits": "the account has too few credits"}


class BulkSmsProvider(HttpProvider):
    """`bulksms` reads NOTIFYQ_BULKSMS_TOKEN_ID, _TOKEN_SECRET, _FROM (or the account's own sender) and _URL."""

    kind: ClassVar[str] = "bulksms"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.SMS})
    usual_lookup: ClassVar[Lookup | None] = LOOKUP
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"TOKEN_ID": "", "TOKEN_SECRET": ""}, ("FROM", "NOTIFYQ_SMS_FROM", "URL", "NOTIFYQ_RECEIPTS_URL")
    )

    def __init__(
        self,
        name: str,
        *,
        auth: tuple[str, str],
        sender: str = "",
        receipts_come: bool = False,
        url: str = DEFAULT_URL,
    ) -> None:
        """Args:
        auth: id and secret of a token.
        sender: empty for the account's own.
        receipts_come: whether the account's webhook reports to us.
        """
        capabilities = Capabilities(
            dedupe_window_seconds=DEDUPE_SECONDS,
            lookup=LOOKUP,
            receipts_carry_key=receipts_come,
            duplicate_harm=DuplicateHarm.PAID,
        )
        super().__init__(name, capabilities)
        self._messages_url = url.rstrip("/") + "/v1/messages"
        self._auth = auth
        self._sender = sender

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        token_id = read_key(settings, f"{prefix}_TOKEN_ID")
        return cls(
            name,
            auth=(token_id, read_key(settings, f"{prefix}_TOKEN_SECRET")),
            sender=account.sender(settings, prefix, optional=True),
            receipts_come=bool(account.receipts_address(settings, name)),
            url=settings.url(f"{prefix}_URL", DEFAULT_URL),
        )

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        if not message.serial:
            # Without the number a repeat would be a second message, and repeats are what the engine then relies on.
            return Verdict.temporary("no_serial", "the message has no number for BulkSMS to know it by")
        answer = self.call(
            "POST",
            self._messages_url,
            params={"deduplication-id": str(message.serial), "auto-unicode": "true"},
            json=[self._entry(message)],
            auth=self._auth,
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else _verdict(answer, message)

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        """Ask for the messages with our key."""
        key = short_key.encode(message.id)
        answer = self.call(
            "GET",
            self._messages_url,
            params={"filter": f"userSuppliedId={key}"},
            auth=self._auth,
            timeout_seconds=timeout_seconds,
        )
        if isinstance(answer, Verdict) or answer.status != 200 or not isinstance(found := answer.json(), list):
            return cannot_say(answer)
        if not found:
            return absent(answer, LOOKUP, since=since, believed_after_seconds=ABSENT_AFTER_SECONDS)
        # One that is not ours means that the filter was not understood as it was meant.
        if not all(isinstance(item, Mapping) and item.get("userSuppliedId") == key for item in found):
            return cannot_say(answer)
        message_id = proof(found[0].get("id"))
        return Finding.accepted(message_id) if message_id else cannot_say(answer)

    def _entry(self, message: Message) -> dict[str, Any]:
        entry = {
            "to": message.recipient,
            "body": message.body,
            "longMessageMaxParts": PARTS_MOST,
            "userSuppliedId": short_key.encode(message.id),
        }
        return entry | ({"from": self._sender} if self._sender else {})


def _verdict(answer: Answer, message: Message) -> Verdict:
    document = answer.json()
    if answer.status == 201 and isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict):
        return _acceptance(answer, document[0], message)
    kind = answer.fields().get("type")
    code = kind.rpartition("#")[2] if isinstance(kind, str) else ""
    if answer.status == 400 and code in _REFUSED:
        return Verdict.rejected(code, answer.telling(_REFUSED[code]))
    if answer.status == 403 and code in _ACCOUNT_TROUBLE:
        return Verdict.provider_fault(code, answer.telling(_ACCOUNT_TROUBLE[code]))
    return status_verdict(answer)


def _acceptance(answer: Answer, item: Mapping[str, Any], message: Message) -> Verdict:
    message_id, submission = proof(item.get("id")), item.get("submission")
    if not message_id or not isinstance(submission, dict) or not proof(submission.get("id")):
        return status_verdict(answer)
    if item.get("userSuppliedId", short_key.encode(message.id)) != short_key.encode(message.id):
        # Dropped as the repeat of another message that had the same number within the last hours.
        return Verdict.unconfirmed("another_message", "the answer is about another message with the same number")
    return Verdict.accepted(message_id)
