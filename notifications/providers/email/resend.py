"""E-mail through Resend.

Resend gives the same answer to the same `Idempotency-Key` for 24 hours, so a lost answer is fetched by sending again.

Source: Resend's pages on sending, idempotency keys, errors and rate limits (resend.com/docs), read 2026-11-30.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, DuplicateHarm, Message, ProviderSettings
from notifications.providers.email.envelope import Envelope, address, quoted_form, read_sender
from notifications.providers.email.mailbox import Mailbox
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.setting_names import EMAIL_FROM, SettingNames
from notifications.verdict import Outcome, Verdict

DEFAULT_URL = "https://api.resend.com"
KEY = "notifyq_id"
CAPABILITIES = Capabilities(
    dedupe_window_seconds=86_400.0, receipts_carry_key=True, duplicate_harm=DuplicateHarm.VISIBLE
)

# By name, where the status is 4xx.
_NAMES: dict[str, Outcome] = {
    "missing_api_key": Outcome.PROVIDER_FAULT,
    "invalid_api_key": Outcome.PROVIDER_FAULT,
    "restricted_api_key": Outcome.PROVIDER_FAULT,
    "suspended_api_key": Outcome.PROVIDER_FAULT,
    "invalid_permission": Outcome.PROVIDER_FAULT,
    "invalid_access": Outcome.PROVIDER_FAULT,
    "invalid_from_address": Outcome.PROVIDER_FAULT,
    "invalid_region": Outcome.PROVIDER_FAULT,
    "not_found": Outcome.PROVIDER_FAULT,
    "method_not_allowed": Outcome.PROVIDER_FAULT,
    # Both with 429, but no pause of a second helps against them.
    "daily_quota_exceeded": Outcome.PROVIDER_FAULT,
    "monthly_quota_exceeded": Outcome.PROVIDER_FAULT,
    "validation_error": Outcome.REJECTED,
    "invalid_parameter": Outcome.REJECTED,
    "missing_required_field": Outcome.REJECTED,
    # The key was used for another content, as when the client's sender was changed since: what became of that is open.
    "invalid_idempotent_request": Outcome.UNCONFIRMED,
    # The first request under the key is still being worked on.
    "concurrent_idempotent_requests": Outcome.UNCONFIRMED,
}
# A `validation_error` that is about the account. Parts of its text, in lower case.
_ABOUT_THE_ACCOUNT = ("api key", "`from`", "from field", "domain is not verified", "testing emails", "verify a domain")


class ResendProvider(HttpProvider):
    """One API key. `resend` reads NOTIFYQ_RESEND_API_KEY and _URL; `resend:b` NOTIFYQ_RESEND_B_API_KEY …"""

    kind: ClassVar[str] = "resend"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.EMAIL})
    setting_names: ClassVar[SettingNames] = SettingNames({"API_KEY": "", **EMAIL_FROM}, ("URL",))

    def __init__(self, name: str, url: str, api_key: str, sender: Mailbox) -> None:
        super().__init__(name, CAPABILITIES)
        self._url = url.rstrip("/")
        self._authorization = f"Bearer {api_key}"
        self._sender = sender

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        url, api_key = settings.url(f"{prefix}_URL", DEFAULT_URL), read_key(settings, f"{prefix}_API_KEY")
        return cls(name, url, api_key, read_sender(settings))

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """ACCEPTED is 200 with an id. Resend makes the mail's Message-ID itself."""
        envelope = address(message, self._sender)
        if isinstance(envelope, Verdict):
            return envelope
        answer = self.post(
            f"{self._url}/emails",
            json=_document(message, envelope),
            headers={"Authorization": self._authorization, "Idempotency-Key": str(message.id)},
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else _verdict(answer)


def _document(message: Message, envelope: Envelope) -> dict[str, Any]:
    """The same for every attempt: under one key Resend wants one content."""
    document = {
        "from": quoted_form(envelope.sender),
        "to": [envelope.recipient.address],
        "subject": envelope.subject,
        "text": envelope.text,
        "html": envelope.html,
        "reply_to": quoted_form(envelope.reply_to) if envelope.reply_to else "",
        "headers": {"Auto-Submitted": "auto-generated"},
        "tags": [{"name": KEY, "value": str(message.id)}],
    }
    return {name: value for name, value in document.items() if value}


def _verdict(answer: Answer) -> Verdict:
    fields = answer.fields()
    if answer.status == 200 and (message_id := proof(fields.get("id"))):
        return Verdict.accepted(message_id)
    name = fields.get("name")
    outcome = _NAMES.get(name) if isinstance(name, str) and 400 <= answer.status < 500 else None
    if outcome is None or not isinstance(name, str):
        return status_verdict(answer)
    if outcome is Outcome.UNCONFIRMED:
        known = answer.telling("Resend knows the key already")
        return Verdict.unconfirmed(name, known, retry_after_seconds=answer.retry_after_seconds)
    if outcome is Outcome.REJECTED and not _is_about_account(answer.status, fields.get("message")):
        return Verdict.rejected(name, answer.telling(f"Resend refuses: {name.replace('_', ' ')}"))
    return Verdict.provider_fault(name, answer.telling(f"Resend refuses the account: {name.replace('_', ' ')}"))


def _is_about_account(status: int, text: object) -> bool:
    if status in (401, 403):
        return True
    return isinstance(text, str) and any(part in text.lower() for part in _ABOUT_THE_ACCOUNT)
