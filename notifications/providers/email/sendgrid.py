"""E-mail through Twilio SendGrid, Web API v3.

SendGrid drops no repeats, but can be asked: `custom_args` carry our key into its logs and its events.

Source: Twilio's OpenAPI descriptions of "mail send" and "email logs" (sendgrid-oai, 2026-01), and its pages on errors
and rate limits (docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api) and "4XX API errors", read 2026-11-30.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, DuplicateHarm, Lookup, Message, ProviderSettings
from notifications.providers.email.envelope import Envelope, address, read_sender
from notifications.providers.email.mailbox import Mailbox
from notifications.providers.email.sendgrid_logs import LOOKUP, find
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.look_up import cannot_say
from notifications.providers.retry_after import parse_reset
from notifications.providers.setting_names import EMAIL_FROM, SettingNames
from notifications.verdict import Finding, Outcome, Verdict

DEFAULT_URL = "https://api.sendgrid.com"
KEY = "notifyq_id"
CAPABILITIES = Capabilities(lookup=LOOKUP, receipts_carry_key=True, duplicate_harm=DuplicateHarm.VISIBLE)

# What a refused field belongs to, by the beginning of its name; the longer ones first.
_FIELDS: tuple[tuple[str, Outcome], ...] = (
    ("from.name", Outcome.REJECTED),
    ("from", Outcome.PROVIDER_FAULT),
    ("personalizations", Outcome.REJECTED),
    ("reply_to", Outcome.REJECTED),
    ("subject", Outcome.REJECTED),
    ("content", Outcome.REJECTED),
)
# Documented as failed requests, for reasons that no other message would change.
_ACCOUNT_REFUSED = {
    406: "SendGrid misses a header",
    451: "SendGrid may not take the mail here: the account's data belongs into another region",
}
_FIELD = re.compile(r"[a-z_]+(?:\.[a-z0-9_-]+)*")


class SendGridProvider(HttpProvider):
    """One API key. `sendgrid` reads NOTIFYQ_SENDGRID_API_KEY and _URL; `sendgrid:eu` NOTIFYQ_SENDGRID_EU_API_KEY …"""

    kind: ClassVar[str] = "sendgrid"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.EMAIL})
    usual_lookup: ClassVar[Lookup | None] = LOOKUP
    setting_names: ClassVar[SettingNames] = SettingNames({"API_KEY": "", **EMAIL_FROM}, ("URL", "LOOKUP"))

    def __init__(self, name: str, url: str, api_key: str, sender: Mailbox, *, lookup: bool = True) -> None:
        super().__init__(name, CAPABILITIES if lookup else replace(CAPABILITIES, lookup=None))
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._sender = sender

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        url, api_key = settings.url(f"{prefix}_URL", DEFAULT_URL), read_key(settings, f"{prefix}_API_KEY")
        return cls(name, url, api_key, read_sender(settings), lookup=settings.flag(f"{prefix}_LOOKUP", default=True))

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """ACCEPTED is 202 with an `X-Message-Id`; many a refusal comes only later, as a `dropped` event."""
        envelope = address(message, self._sender)
        if isinstance(envelope, Verdict):
            return envelope
        answer = self.post(
            f"{self._url}/v3/mail/send",
            json=_document(message, envelope),
            headers=self._headers,
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else _verdict(_with_wait(answer))

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        """Search the logs for mails to the recipient, and read each one's `custom_args`."""
        envelope = address(message, self._sender)
        if isinstance(envelope, Verdict):
            return cannot_say(envelope)

        def ask(method: str, path: str, seconds: float, **content: Any) -> Answer | Verdict:
            answer = self.call(method, self._url + path, headers=self._headers, timeout_seconds=seconds, **content)
            return answer if isinstance(answer, Verdict) else _with_wait(answer)

        key, recipient = (KEY, str(message.id)), envelope.recipient.address
        return find(ask, key=key, recipient=recipient, since=since, seconds=timeout_seconds)


def _document(message: Message, envelope: Envelope) -> dict[str, Any]:
    content = [{"type": "text/plain", "value": envelope.text}]
    if envelope.html:
        content.append({"type": "text/html", "value": envelope.html})
    document = {
        "personalizations": [{"to": [{"email": envelope.recipient.address}], "custom_args": {KEY: str(message.id)}}],
        "from": _party(envelope.sender),
        "subject": envelope.subject,
        "content": content,
        "headers": {"Message-ID": envelope.message_id, "Auto-Submitted": "auto-generated"},
    }
    return document | ({"reply_to": _party(envelope.reply_to)} if envelope.reply_to else {})


def _party(mailbox: Mailbox) -> dict[str, str]:
    return {"email": mailbox.address} | ({"name": mailbox.name} if mailbox.name else {})


def _with_wait(answer: Answer) -> Answer:
    """SendGrid has no Retry-After, but says when its limit is open again."""
    if answer.status != 429 or answer.retry_after_seconds is not None:
        return answer
    wait = parse_reset(
        answer.headers.get("x-ratelimit-reset"), answered_at=answer.headers.get("date"), now=datetime.now(UTC)
    )
    return replace(answer, retry_after_seconds=wait)


def _verdict(answer: Answer) -> Verdict:
    if answer.status == 202 and (message_id := proof(answer.headers.get("x-message-id"))):
        return Verdict.accepted(message_id)
    if answer.status == 413:
        return Verdict.rejected("http_413", answer.telling("SendGrid takes no mail of this size"))
    if answer.status in _ACCOUNT_REFUSED:
        return Verdict.provider_fault(f"http_{answer.status}", answer.telling(_ACCOUNT_REFUSED[answer.status]))
    errors = _errors(answer.fields())
    if answer.status != 400 or not errors:
        return status_verdict(answer)
    return _refusal(answer, [error.get("field") for error in errors])


def _errors(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    errors = fields.get("errors")
    return [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []


def _refusal(answer: Answer, fields: list[object]) -> Verdict:
    """400 with a list of errors: certainly not taken."""
    known = [(field, outcome) for field in fields if (outcome := _belongs_to(field))]
    for field, outcome in sorted(known, key=lambda pair: pair[1] is Outcome.REJECTED):
        make = Verdict.provider_fault if outcome is Outcome.PROVIDER_FAULT else Verdict.rejected
        return make("http_400", answer.telling(f"SendGrid refuses the field {field}"))
    return Verdict.temporary(
        "http_400", answer.telling("SendGrid refuses the request and names no field that this adapter knows")
    )


def _belongs_to(field: object) -> Outcome | None:
    if not isinstance(field, str) or not _FIELD.fullmatch(field):
        return None
    return next((outcome for name, outcome in _FIELDS if f"{field}.".startswith(f"{name}.")), None)
