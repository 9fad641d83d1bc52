"""The adapter of the sandbox provider, the simulated vendor of `manage.py sandbox_provider`."""

from __future__ import annotations

from typing import Any, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, FoundBy, Lookup, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import variable_prefix
from notifications.verdict import Verdict

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

    def __init__(self, name: str, capabilities: Capabilities, url: str) -> None:
        super().__init__(name, capabilities)
        self._messages_url = url.rstrip("/") + "/messages"

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        # A labelled one has no default address: two of them at the same place are hardly what was meant.
        url = settings.url(f"{prefix}_URL", DEFAULT_URL if name == cls.kind else None)
        dedupes = settings.flag(f"{prefix}_DEDUPE", default=True)
        lookup = _LOOKUP if settings.flag(f"{prefix}_LOOKUP", default=True) else None
        return cls(name, Capabilities(_KEPT_SECONDS if dedupes else None, lookup=lookup), url)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        answer = self.post(
            self._messages_url,
            json=_document(message),
            headers={"Idempotency-Key": str(message.id)},
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else _verdict(answer)


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
