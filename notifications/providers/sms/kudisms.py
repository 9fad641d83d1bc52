"""Text messages through KudiSMS. Unproven: no description by the vendor could be reached.

What is here was read off five public programs that agree with each other. It drops no repeats, and there is no sign of
a way to ask about a message or of receipts: an answer that is lost stays lost. So it belongs at the end of a chain, and
is not built at all unless a setting says that this is accepted.

Source: public integrations of `my.kudisms.net/api/sms`, 2026-11.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import ClassVar, Self

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.setting_names import SMS_FROM, SettingNames
from notifications.providers.sms import account
from notifications.providers.sms.codes import Meaning, refusal
from notifications.verdict import Outcome, Verdict

DEFAULT_URL = "https://my.kudisms.net"
DEFAULT_GATEWAY = "2"
_SUCCESS, _DONE = "success", "000"

CODES: MappingProxyType[str, Meaning] = MappingProxyType({
    "009": (Outcome.REJECTED, "the body is too long"),
    "100": (Outcome.PROVIDER_FAULT, "the token is refused"),
    "101": (Outcome.PROVIDER_FAULT, "the account is not active"),
    "104": (Outcome.REJECTED, "the content is refused"),
    "105": (Outcome.PROVIDER_FAULT, "the sender is refused"),
    "106": (Outcome.PROVIDER_FAULT, "the sender is refused"),
    "107": (Outcome.REJECTED, "the recipient is no valid phone number"),
    "109": (Outcome.PROVIDER_FAULT, "the account has no credit"),
    "111": (Outcome.PROVIDER_FAULT, "the sender is refused"),
    "188": (Outcome.PROVIDER_FAULT, "the sender is refused"),
})  # fmt: skip


class KudiSmsProvider(HttpProvider):
    """`kudisms` reads NOTIFYQ_KUDISMS_ACCEPT_UNPROVEN, _TOKEN, _FROM, _GATEWAY and _URL."""

    kind: ClassVar[str] = "kudisms"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.SMS})
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"TOKEN": "", **SMS_FROM}, ("ACCEPT_UNPROVEN", "GATEWAY", "URL")
    )

    def __init__(
        self, name: str, *, token: str, sender: str, gateway: str = DEFAULT_GATEWAY, url: str = DEFAULT_URL
    ) -> None:
        """Args:
        gateway: the vendor's number of the route.
        """
        super().__init__(name, Capabilities(duplicate_harm=DuplicateHarm.PAID))
        self._url = url.rstrip("/") + "/api/sms"
        self._fields = {"token": token, "senderID": sender, "gateway": gateway}

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        if not settings.flag(f"{prefix}_ACCEPT_UNPROVEN", default=False):
            raise ConfigurationError(
                f"NOTIFYQ_{prefix}_ACCEPT_UNPROVEN must be true for {name!r} to be used: its interface is known from "
                "other programs only, and a message whose answer is lost cannot be asked about"
            )
        return cls(
            name,
            token=read_key(settings, f"{prefix}_TOKEN"),
            sender=account.sender(settings, prefix),
            gateway=read_key(settings, f"{prefix}_GATEWAY", DEFAULT_GATEWAY),
            url=settings.url(f"{prefix}_URL", DEFAULT_URL),
        )

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        form = self._fields | {"recipients": account.digits(message.recipient), "message": message.body}
        answer = self.post(self._url, data=form, timeout_seconds=timeout_seconds)
        return answer if isinstance(answer, Verdict) else _verdict(answer, message)


def _verdict(answer: Answer, message: Message) -> Verdict:
    fields = answer.fields()
    status, code = fields.get("status"), str(fields.get("error_code"))
    if answer.status >= 300 and answer.status not in (400, 422):
        return status_verdict(answer)
    if answer.status < 300 and status == _SUCCESS and code == _DONE:
        # Some answers bear an id in `data`; the pair above is what proves acceptance.
        return Verdict.accepted(proof(fields.get("data")) or str(message.id))
    meaning = CODES.get(code)
    return refusal(answer, code, meaning) if meaning and status != _SUCCESS else status_verdict(answer)
