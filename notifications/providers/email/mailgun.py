"""E-mail through Mailgun, API v3.

Mailgun drops no repeats, but can be asked: the Message-ID that we choose is its own id for the mail.

Source: Mailgun's API reference and user manual (documentation.mailgun.com: messages, events, event polling), read
2026-11-30; its page on response codes, which "all follow standard HTTP definitions" (read 2026-11-30), and for 402
"parameters were valid but request failed", as its clients have it; that a wrong address is answered with 200 and a
banner, django-anymail 15.2.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self
from urllib.parse import quote

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, FoundBy, Lookup, Message, ProviderSettings
from notifications.providers.email.envelope import Envelope, address, quoted_form, read_sender
from notifications.providers.email.mailbox import Mailbox, ascii_domain
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.look_up import absent, cannot_say
from notifications.providers.setting_names import EMAIL_FROM, SettingNames
from notifications.verdict import Finding, Outcome, Verdict

DEFAULT_URL = "https://api.mailgun.net"
KEY = "notifyq_id"
# Events are kept for a day at least, on the smallest plan.
LOOKUP = Lookup(FoundBy.KEY, settle_seconds=120.0, horizon_seconds=86_400.0)
# The manual trusts in a list of events when they are half an hour old; twice that, as an absence is acted upon.
ABSENT_BELIEVED_AFTER_SECONDS = 3600.0
CLOCK_MARGIN = timedelta(minutes=5)
EVENTS_MOST = 300
CAPABILITIES = Capabilities(lookup=LOOKUP, receipts_carry_key=True, duplicate_harm=DuplicateHarm.VISIBLE)

_QUEUED = "Queued"
# A refusal has no code, only a text. Parts of the known ones, in lower case; the first that is found counts.
_TEXTS: tuple[tuple[str, Outcome, str], ...] = (
    ("not allowed to send", Outcome.PROVIDER_FAULT, "domain_not_allowed"),
    ("sandbox subdomains", Outcome.PROVIDER_FAULT, "sandbox_domain"),
    ("free accounts", Outcome.PROVIDER_FAULT, "account_restricted"),
    ("disabled", Outcome.PROVIDER_FAULT, "account_disabled"),
    ("from parameter", Outcome.PROVIDER_FAULT, "invalid_sender"),
    ("'from' parameter", Outcome.PROVIDER_FAULT, "invalid_sender"),
    ("to parameter", Outcome.REJECTED, "invalid_recipient"),
    ("'to' parameter", Outcome.REJECTED, "invalid_recipient"),
)
# What happened to a mail that Mailgun took into its queue.
_TAKEN = frozenset({"accepted", "delivered", "failed", "opened", "clicked", "unsubscribed", "complained", "stored"})
_REJECTED = "rejected"


class MailgunProvider(HttpProvider):
    """One sending domain. `mailgun` reads NOTIFYQ_MAILGUN_API_KEY, _DOMAIN, _URL; `mailgun:eu` NOTIFYQ_MAILGUN_EU_…"""

    kind: ClassVar[str] = "mailgun"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.EMAIL})
    usual_lookup: ClassVar[Lookup | None] = LOOKUP
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"API_KEY": "", "DOMAIN": "mail.example.com", **EMAIL_FROM}, ("URL", "LOOKUP")
    )

    def __init__(self, name: str, url: str, domain: str, api_key: str, sender: Mailbox, *, lookup: bool = True) -> None:
        super().__init__(name, CAPABILITIES if lookup else replace(CAPABILITIES, lookup=None))
        self._url = f"{url.rstrip('/')}/v3/{quote(domain, safe='')}"
        self._auth = ("api", api_key)
        self._sender = sender

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        return cls(
            name,
            settings.url(f"{prefix}_URL", DEFAULT_URL),
            _read_domain(settings, f"{prefix}_DOMAIN"),
            read_key(settings, f"{prefix}_API_KEY"),
            read_sender(settings),
            lookup=settings.flag(f"{prefix}_LOOKUP", default=True),
        )

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """ACCEPTED is 200 with an id and a text that begins with "Queued"."""
        envelope = address(message, self._sender)
        if isinstance(envelope, Verdict):
            return envelope
        answer = self.post(
            f"{self._url}/messages", data=_form(message, envelope), auth=self._auth, timeout_seconds=timeout_seconds
        )
        return answer if isinstance(answer, Verdict) else _verdict(answer)

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        """Ask for the events of the Message-ID that the mail was sent with."""
        envelope = address(message, self._sender)
        if isinstance(envelope, Verdict):
            return cannot_say(envelope)
        message_id = envelope.message_id.strip("<>")
        wanted = {
            "message-id": message_id,
            "begin": str(int((since - CLOCK_MARGIN).timestamp())),
            "ascending": "yes",
            "limit": str(EVENTS_MOST),
        }
        answer = self.call(
            "GET", f"{self._url}/events", params=wanted, auth=self._auth, timeout_seconds=timeout_seconds
        )
        return cannot_say(answer) if isinstance(answer, Verdict) else _finding(answer, message_id, since)


def _read_domain(settings: ProviderSettings, variable: str) -> str:
    try:
        return ascii_domain(settings.text(variable).strip())
    except ValueError:
        raise ConfigurationError(f"NOTIFYQ_{variable} must be a domain such as mail.example.com") from None


def _form(message: Message, envelope: Envelope) -> dict[str, str]:
    form = {
        "from": quoted_form(envelope.sender),
        "to": envelope.recipient.address,
        "subject": envelope.subject,
        "text": envelope.text,
        "html": envelope.html,
        "h:Reply-To": quoted_form(envelope.reply_to) if envelope.reply_to else "",
        "h:Message-Id": envelope.message_id,
        "h:Auto-Submitted": "auto-generated",
        f"v:{KEY}": str(message.id),
    }
    return {name: value for name, value in form.items() if value}


def _verdict(answer: Answer) -> Verdict:
    fields = answer.fields()
    text = fields.get("message")
    if answer.status == 402:
        return Verdict.provider_fault("http_402", answer.telling("Mailgun refuses the account"))
    if not isinstance(text, str):
        return status_verdict(answer)
    if answer.status == 200 and text.startswith(_QUEUED) and (message_id := proof(fields.get("id"))):
        return Verdict.accepted(message_id)
    if answer.status == 413:
        return Verdict.rejected("http_413", answer.telling("Mailgun takes no mail of this size"))
    return _refusal(answer, text.lower()) if answer.status == 400 else status_verdict(answer)


def _refusal(answer: Answer, text: str) -> Verdict:
    """400: certainly not taken."""
    for part, outcome, code in _TEXTS:
        if part in text:
            make = Verdict.provider_fault if outcome is Outcome.PROVIDER_FAULT else Verdict.rejected
            return make(code, answer.telling(f"Mailgun refuses: {code.replace('_', ' ')}"))
    return Verdict.temporary(
        "http_400", answer.telling("Mailgun refuses the request for a reason that this adapter does not know")
    )


def _finding(answer: Answer, message_id: str, since: datetime) -> Finding:
    items = answer.fields().get("items") if answer.status == 200 else None
    if not isinstance(items, list) or not all(_is_about(item, message_id) for item in items):
        return cannot_say(answer)
    if not items:
        return absent(answer, LOOKUP, since=since, believed_after_seconds=ABSENT_BELIEVED_AFTER_SECONDS)
    events = {item.get("event") for item in items}
    if events <= {_REJECTED, "accepted"} and _REJECTED in events:
        return Finding.rejected("rejected", "Mailgun rejected the mail")
    return Finding.accepted(f"<{message_id}>") if events & _TAKEN else cannot_say(answer)


def _is_about(item: Any, message_id: str) -> bool:
    """Whether it is an event of the mail that was asked about."""
    message = item.get("message") if isinstance(item, dict) else None
    headers = message.get("headers") if isinstance(message, dict) else None
    named = headers.get("message-id") if isinstance(headers, dict) else None
    return isinstance(named, str) and named.strip("<>") == message_id and isinstance(item.get("event"), str)
