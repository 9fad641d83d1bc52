"""Text messages through Vonage, by its Messages API.

It drops no repeats. `client_ref` is our key: it comes back in receipts, and in the records of the Reports API, which is
paid for by the record and takes the account's key and secret only.

Source: Vonage's pages on the Messages API v1, its errors, and the Reports API v2, and the models of its Python library,
2026-11; the form of the token is that of vonage-jwt 1.1.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, DuplicateHarm, Lookup, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import variable_prefix
from notifications.providers.setting_names import SMS_FROM, SettingNames
from notifications.providers.sms import account
from notifications.providers.sms.codes import Meaning, refusal
from notifications.providers.sms.vonage_credentials import Credentials, read_credentials
from notifications.providers.sms.vonage_reports import LOOKUP, PRODUCTS, found_in, query
from notifications.verdict import Finding, Found, Outcome, Verdict

DEFAULT_URL = "https://api.nexmo.com"
_CONFIGURED = frozenset({"from", "webhook_url", "webhook_version"})
_ERROR_NUMBER = re.compile(r"#?([0-9]{3,5})\Z")

# The number at the end of an error's `type`.
CODES: MappingProxyType[int, Meaning] = MappingProxyType({
    1000: (Outcome.TEMPORARY, "too many messages at once"),
    1010: (Outcome.REJECTED, "a parameter is missing"),
    1020: (Outcome.REJECTED, "a parameter is not valid"),
    1040: (Outcome.REJECTED, "the message cannot be processed"),
    1050: (Outcome.REJECTED, "the recipient may not receive messages"),
    1060: (Outcome.PROVIDER_FAULT, "the account is barred"),
    1070: (Outcome.PROVIDER_FAULT, "the account has no credit"),
    1080: (Outcome.PROVIDER_FAULT, "the account may not use this interface"),
    1090: (Outcome.REJECTED, "the body is too long"),
    1120: (Outcome.PROVIDER_FAULT, "the sender is not accepted"),
    1140: (Outcome.PROVIDER_FAULT, "the account may not do this"),
    1150: (Outcome.REJECTED, "a parameter is not valid"),
    1160: (Outcome.REJECTED, "the recipient is not among those that the account may send to"),
    1170: (Outcome.REJECTED, "the recipient is no valid phone number"),
})  # fmt: skip


class VonageProvider(HttpProvider):
    """`vonage` reads NOTIFYQ_VONAGE_APPLICATION_ID and _PRIVATE_KEY, _API_KEY and _API_SECRET, _FROM and _URL.

    With the first pair it sends in the application's name, else in the account's. Only with the second pair can it be
    asked about a message.
    """

    kind: ClassVar[str] = "vonage"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.SMS})
    usual_lookup: ClassVar[Lookup | None] = LOOKUP
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"APPLICATION_ID|API_KEY": "", **SMS_FROM},
        ("PRIVATE_KEY", "API_SECRET", "URL", "REPORTS_URL", "NOTIFYQ_RECEIPTS_URL"),
    )

    def __init__(
        self,
        name: str,
        *,
        credentials: Credentials,
        sender: str,
        receipts_address: str = "",
        url: str = DEFAULT_URL,
        reports_url: str = DEFAULT_URL,
    ) -> None:
        """Args:
        receipts_address: where Vonage is to report to; empty for what the application says.
        """
        capabilities = Capabilities(
            lookup=LOOKUP if credentials.account else None,
            receipts_carry_key=bool(receipts_address),
            duplicate_harm=DuplicateHarm.PAID,
        )
        super().__init__(name, capabilities)
        self._messages_url = url.rstrip("/") + "/v1/messages"
        self._reports_url = reports_url.rstrip("/") + "/v2/reports/records"
        self._credentials = credentials
        self._sender = sender
        self._receipts_address = receipts_address

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        url = settings.url(f"{prefix}_URL", DEFAULT_URL)
        return cls(
            name,
            credentials=read_credentials(settings, prefix),
            sender=account.sender(settings, prefix),
            receipts_address=account.receipts_address(settings, name),
            url=url,
            reports_url=settings.url(f"{prefix}_REPORTS_URL", DEFAULT_URL),
        )

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        answer = self.post(
            self._messages_url,
            json=self._document(message),
            headers={"Authorization": self._credentials.authorization()},
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else _verdict(answer)

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        """Ask for the records of both products under which a text message may stand. Absent only if in neither."""
        finding = Finding.unknown("cannot_ask", "records are only for the account's key and secret")
        account_id = self._credentials.account[0] if self._credentials.account else ""
        for product in PRODUCTS if account_id else ():
            answer = self.call(
                "GET",
                self._reports_url,
                params=query(message, product, account_id, since),
                auth=self._credentials.account,
                timeout_seconds=timeout_seconds / len(PRODUCTS),
            )
            finding = found_in(answer, message, since)
            if finding.found is not Found.ABSENT:
                break
        return finding

    def _document(self, message: Message) -> dict[str, Any]:
        document: dict[str, Any] = {
            "channel": "sms",
            "message_type": "text",
            "to": account.digits(message.recipient),
            "from": account.digits(self._sender),
            "text": message.body,
            "client_ref": str(message.id),
            "sms": {"encoding_type": "auto"},
        }
        if self._receipts_address:
            document |= {"webhook_url": self._receipts_address, "webhook_version": "v1"}
        return document


def _verdict(answer: Answer) -> Verdict:
    fields = answer.fields()
    if answer.status == 202 and (message_uuid := proof(fields.get("message_uuid"))):
        return Verdict.accepted(message_uuid)
    if answer.status == 422 and (names := _wrong_parameters(fields)):
        return _invalid(answer, names)
    number = _ERROR_NUMBER.search(kind) if isinstance(kind := fields.get("type"), str) else None
    if 400 <= answer.status < 500 and number and (known := CODES.get(int(number[1]))):
        return refusal(answer, number[1], known)
    if answer.status == 402:
        return Verdict.provider_fault("http_402", answer.telling("the account has no credit"))
    return status_verdict(answer)


def _wrong_parameters(fields: Mapping[str, Any]) -> set[str]:
    """The names of what was not valid; empty where the answer does not say."""
    listed = fields.get("invalid_parameters")
    names = [item.get("name") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return {name for name in names if isinstance(name, str)}


def _invalid(answer: Answer, names: set[str]) -> Verdict:
    if names <= _CONFIGURED:
        text = answer.telling("what comes from the settings is not valid: the sender or so")
        return Verdict.provider_fault("invalid_params", text)
    return Verdict.rejected("invalid_params", answer.telling("the recipient or the body is not valid"))
