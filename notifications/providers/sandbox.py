"""The adapter of the sandbox provider, the simulated vendor of `manage.py sandbox_provider`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from notifications.channel import Channel
from notifications.providers.base import Capabilities, FoundBy, Lookup, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import variable_prefix
from notifications.providers.setting_names import SettingNames
from notifications.verdict import Finding, Verdict

DEFAULT_URL = "http://127.0.0.1:8026"
_KEPT_SECONDS = 10 * 365 * 86_400.0  # it keeps keys until it is emptied
_LOOKUP = Lookup(FoundBy.KEY, settle_seconds=1.0, horizon_seconds=86_400.0)
_REFUSALS = frozenset({"recipient_rejected", "content_rejected", "invalid_message"})


class SandboxProvider(HttpProvider):
    """`sandbox` reads NOTIFYQ_SANDBOX_URL, _DEDUPE and _LOOKUP; `sandbox:a` reads NOTIFYQ_SANDBOX_A_URL and so on.

    _DEDUPE and _LOOKUP say what the engine may rely on, not what the server really does.
    """

    kind = "sandbox"
    channels = frozenset({Channel.EMAIL, Channel.SMS, Channel.PUSH})
    usual_lookup: ClassVar[Lookup | None] = _LOOKUP
    setting_names = SettingNames(
        optional=("URL", "DEDUPE", "LOOKUP", "LOOKUP_SETTLE_SECONDS"),
        needed_with_label={"URL": "http://127.0.0.1:8027"},
    )

    def __init__(self, name: str, capabilities: Capabilities, url: str) -> None:
        super().__init__(name, capabilities)
        self._messages_url = url.rstrip("/") + "/messages"

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        # A labelled one has no default address: two of them at the same place are hardly what was meant.
        url = settings.url(f"{prefix}_URL", DEFAULT_URL if name == cls.kind else None)
        dedupes = settings.flag(f"{prefix}_DEDUPE", default=True)
        can_be_asked = settings.flag(f"{prefix}_LOOKUP", default=True)
        settle_seconds = settings.number(f"{prefix}_LOOKUP_SETTLE_SECONDS", _LOOKUP.settle_seconds)
        lookup = replace(_LOOKUP, settle_seconds=settle_seconds) if can_be_asked else None
        return cls(name, Capabilities(_KEPT_SECONDS if dedupes else None, lookup=lookup), url)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        answer = self.post(
            self._messages_url,
            json=_document(message),
            headers={"Idempotency-Key": str(message.id)},
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else _verdict(answer)

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        url = f"{self._messages_url}?{urlencode({'key': str(message.id)})}"
        answer = self.call("GET", url, timeout_seconds=timeout_seconds)
        if isinstance(answer, Verdict):
            return Finding.unknown(answer.error_code, answer.error_message)
        return _finding(answer)


def _document(message: Message) -> dict[str, Any]:
    optional = {
        "htmlBody": message.html_body,
        "data": dict(message.data),
        "fromName": message.from_name,
        "replyTo": message.reply_to,
        "collapseKey": message.collapse_key,
    }
    return {
        "channel": str(message.channel),
        "recipient": message.recipient,
        "subject": message.subject,
        "body": message.body,
        **{name: value for name, value in optional.items() if value},
    }


def _verdict(answer: Answer) -> Verdict:
    fields = answer.fields()
    code = fields.get("code")
    if answer.status == 202 and (message_id := proof(fields.get("messageId"))):
        return Verdict.accepted(message_id)
    if 400 <= answer.status < 500 and isinstance(code, str) and code in _REFUSALS:
        return Verdict.rejected(code, "the sandbox provider refuses this message for good")
    if answer.status == 503 and code == "not_accepted":
        return Verdict.temporary(
            "not_accepted", "the sandbox provider did not accept it", retry_after_seconds=answer.retry_after_seconds
        )
    return status_verdict(answer)


def _finding(answer: Answer) -> Finding:
    """Anything but the sandbox's own words proves nothing: a 404 of some other server least of all."""
    fields = answer.fields()
    status, code = fields.get("status"), fields.get("code")
    if answer.status == 200 and status in ("delivered", "pending") and (message_id := proof(fields.get("messageId"))):
        return Finding.accepted(message_id)
    if answer.status == 200 and status == "failed":
        return Finding.rejected("failed", "the sandbox provider has refused this message for good")
    if answer.status == 404 and code == "unknown_key":
        return Finding.absent()
    name = code if isinstance(code, str) and code else f"http_{answer.status}"
    return Finding.unknown(name, f"answered {answer.status}", retry_after_seconds=answer.retry_after_seconds)
