"""Text messages through Twilio.

It drops no repeats. What became of a message is asked for by recipient, time and text, since a message has no field for
a key of ours; with NOTIFYQ_RECEIPTS_URL the key goes along in the address that Twilio reports to.

Source: Twilio's OpenAPI description of api_v2010 (@twilio/cli-core 8), and its pages on the Message resource and on
error codes, 2026-11.
"""

from __future__ import annotations

import re
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar, Self

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, Lookup, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.setting_names import SMS_FROM, SettingNames
from notifications.providers.sms import account
from notifications.providers.sms.codes import Meaning, refusal
from notifications.providers.sms.twilio_search import LOOKUP, Search, list_path
from notifications.receipts.addresses import with_key
from notifications.verdict import Finding, Outcome, Verdict

DEFAULT_URL = "https://api.twilio.com"
MESSAGING_SERVICE = r"MG[0-9a-fA-F]{32}"
_ACCOUNT = re.compile(r"AC[0-9a-fA-F]{32}")
_API_KEY = re.compile(r"SK[0-9a-fA-F]{32}")
_PROOF = re.compile(r"(?:SM|MM)[0-9a-fA-F]{32}")

# What Twilio's codes mean with a status of 4xx.
CODES: MappingProxyType[int, Meaning] = MappingProxyType({
    20003: (Outcome.PROVIDER_FAULT, "the credentials are refused"),
    20005: (Outcome.PROVIDER_FAULT, "the account is not active"),
    20429: (Outcome.TEMPORARY, "too many requests"),
    14107: (Outcome.TEMPORARY, "too many messages at once"),
    21211: (Outcome.REJECTED, "the recipient is no valid phone number"),
    21212: (Outcome.PROVIDER_FAULT, "the sender is not valid"),
    21214: (Outcome.REJECTED, "the recipient cannot be reached"),
    21217: (Outcome.REJECTED, "the recipient is no valid phone number"),
    21265: (Outcome.REJECTED, "the recipient is a short code"),
    21266: (Outcome.REJECTED, "the recipient is the sender"),
    21267: (Outcome.PROVIDER_FAULT, "a trial account may not use a name as the sender"),
    21268: (Outcome.REJECTED, "the recipient is a premium number"),
    21408: (Outcome.REJECTED, "the account may not send to the recipient's region"),
    21602: (Outcome.REJECTED, "the body is missing"),
    21603: (Outcome.PROVIDER_FAULT, "the sender is missing"),
    21604: (Outcome.REJECTED, "the recipient is missing"),
    21606: (Outcome.PROVIDER_FAULT, "the sender cannot send to this destination"),
    21607: (Outcome.PROVIDER_FAULT, "the sender cannot send messages"),
    21608: (Outcome.PROVIDER_FAULT, "a trial account may only send to verified numbers"),
    21609: (Outcome.PROVIDER_FAULT, "the address for receipts is not valid"),
    21610: (Outcome.REJECTED, "the recipient has opted out"),
    21611: (Outcome.TEMPORARY, "the sender's queue is full"),
    21612: (Outcome.REJECTED, "there is no route to the recipient"),
    21614: (Outcome.REJECTED, "the recipient is no mobile number"),
    21617: (Outcome.REJECTED, "the body is too long"),
    21635: (Outcome.REJECTED, "the recipient is a landline"),
    21659: (Outcome.PROVIDER_FAULT, "the sender is no number of Twilio's"),
    21660: (Outcome.PROVIDER_FAULT, "the sender belongs to another account"),
    21661: (Outcome.PROVIDER_FAULT, "the sender cannot send messages"),
    21703: (Outcome.PROVIDER_FAULT, "the messaging service has no sender"),
    21705: (Outcome.PROVIDER_FAULT, "there is no such messaging service"),
    30001: (Outcome.TEMPORARY, "the account's queue is full"),
    30002: (Outcome.PROVIDER_FAULT, "the account is suspended"),
    63038: (Outcome.PROVIDER_FAULT, "the account's messages of the day are used up"),
})  # fmt: skip


class TwilioProvider(HttpProvider):
    """`twilio` reads NOTIFYQ_TWILIO_ACCOUNT_SID, _AUTH_TOKEN (or _API_KEY and _API_SECRET), _FROM and _URL."""

    kind: ClassVar[str] = "twilio"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.SMS})
    usual_lookup: ClassVar[Lookup | None] = LOOKUP
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"ACCOUNT_SID": "", "AUTH_TOKEN|API_KEY": "", **SMS_FROM}, ("API_SECRET", "URL", "NOTIFYQ_RECEIPTS_URL")
    )

    def __init__(
        self,
        name: str,
        *,
        account_sid: str,
        auth: tuple[str, str],
        sender: str,
        receipts_address: str = "",
        url: str = DEFAULT_URL,
    ) -> None:
        """Args:
        auth: user name and password: the account's SID and token, or those of an API key.
        sender: a number, a name, or the SID of a messaging service.
        receipts_address: where Twilio is to report to; empty for nowhere.
        """
        harm, carried = DuplicateHarm.PAID, bool(receipts_address)
        super().__init__(name, Capabilities(lookup=LOOKUP, receipts_carry_key=carried, duplicate_harm=harm))
        self._base_url = url.rstrip("/")
        self._path = list_path(account_sid)
        self._auth = auth
        self._sender = sender
        self._receipts_address = receipts_address

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        account_sid = read_key(settings, f"{prefix}_ACCOUNT_SID")
        if not _ACCOUNT.fullmatch(account_sid):
            raise ConfigurationError(f"NOTIFYQ_{prefix}_ACCOUNT_SID must be AC and 32 hexadecimal digits")
        return cls(
            name,
            account_sid=account_sid,
            auth=_auth(settings, prefix, account_sid),
            sender=account.sender(settings, prefix, also=MESSAGING_SERVICE, plus_optional=False),
            receipts_address=account.receipts_address(settings, name),
            url=settings.url(f"{prefix}_URL", DEFAULT_URL),
        )

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        form = {"To": message.recipient, "Body": message.body, self._sender_field: self._sender}
        if self._receipts_address:
            form["StatusCallback"] = with_key(self._receipts_address, message.id)
        answer = self.post(self._base_url + self._path, data=form, auth=self._auth, timeout_seconds=timeout_seconds)
        return answer if isinstance(answer, Verdict) else _verdict(answer)

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        """Go through all messages to the recipient; see `Search`."""
        search = Search(message, self._sender, since, self._path)
        return search.run(self._page, timeout_seconds=timeout_seconds)

    @property
    def _sender_field(self) -> str:
        return "MessagingServiceSid" if re.fullmatch(MESSAGING_SERVICE, self._sender) else "From"

    def _page(self, path: str, timeout_seconds: float) -> Answer | Verdict:
        return self.call("GET", self._base_url + path, auth=self._auth, timeout_seconds=timeout_seconds)


def _auth(settings: ProviderSettings, prefix: str, account_sid: str) -> tuple[str, str]:
    key = read_key(settings, f"{prefix}_API_KEY", "")
    secret = read_key(settings, f"{prefix}_API_SECRET", None if key else "")
    token = read_key(settings, f"{prefix}_AUTH_TOKEN", "" if key else None)
    if not key:
        return account_sid, token
    if not _API_KEY.fullmatch(key):
        raise ConfigurationError(f"NOTIFYQ_{prefix}_API_KEY must be SK and 32 hexadecimal digits")
    return key, secret


def _verdict(answer: Answer) -> Verdict:
    fields = answer.fields()
    sid, code = fields.get("sid"), fields.get("code")
    if answer.status == 201 and isinstance(sid, str) and _PROOF.fullmatch(sid):
        return Verdict.accepted(sid)
    if 400 <= answer.status < 500 and isinstance(code, int) and not isinstance(code, bool):
        return _refusal(answer, code)
    return status_verdict(answer)


def _refusal(answer: Answer, code: int) -> Verdict:
    """Twilio's own error document: the message was certainly not taken."""
    if meaning := CODES.get(code):
        return refusal(answer, str(code), meaning)
    if answer.status == 400:
        # Whether another try can help is not known, but nothing is lost by it.
        return Verdict.temporary(
            str(code), answer.telling(f"refused with the code {code}, whose meaning is not known here")
        )
    return status_verdict(answer)
