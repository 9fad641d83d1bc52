"""E-mail through Amazon SES, API v2.

SES drops no repeats and cannot be asked. The tag with our key comes back in its events, where a configuration set
publishes them.

Source: botocore's description of the service (sesv2, 2019-09-27) and Amazon's developer guide (errors, sending quotas,
header fields), read 2026-11-30.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any, ClassVar, Self

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, Message, ProviderSettings
from notifications.providers.email.envelope import Envelope, address, quoted_form, read_sender
from notifications.providers.email.mailbox import Mailbox
from notifications.providers.email.mime import encoded_words, is_plain
from notifications.providers.email.ses_signing import Signer, find_signer
from notifications.providers.http import Answer, HttpProvider, proof, status_verdict
from notifications.providers.instance_settings import read_key, variable_prefix
from notifications.providers.setting_names import EMAIL_FROM, SettingNames
from notifications.verdict import Outcome, Verdict

PATH = "/v2/email/outbound-emails"
KEY = "notifyq_id"
CAPABILITIES = Capabilities(receipts_carry_key=True, duplicate_harm=DuplicateHarm.VISIBLE)

# By the error's type, where the status is 4xx. TEMPORARY means throttled.
_TYPES: dict[str, Outcome] = {
    "MessageRejected": Outcome.REJECTED,
    "BadRequestException": Outcome.REJECTED,
    "ValidationException": Outcome.REJECTED,
    "TooManyRequestsException": Outcome.TEMPORARY,
    "ThrottlingException": Outcome.TEMPORARY,
    "Throttling": Outcome.TEMPORARY,
    "LimitExceededException": Outcome.PROVIDER_FAULT,
    "AccountSuspendedException": Outcome.PROVIDER_FAULT,
    "SendingPausedException": Outcome.PROVIDER_FAULT,
    "MailFromDomainNotVerifiedException": Outcome.PROVIDER_FAULT,
    "NotFoundException": Outcome.PROVIDER_FAULT,
    "AccessDeniedException": Outcome.PROVIDER_FAULT,
    "UnrecognizedClientException": Outcome.PROVIDER_FAULT,
    "InvalidClientTokenId": Outcome.PROVIDER_FAULT,
    "InvalidSignatureException": Outcome.PROVIDER_FAULT,
    "SignatureDoesNotMatch": Outcome.PROVIDER_FAULT,
    "IncompleteSignature": Outcome.PROVIDER_FAULT,
    "MissingAuthenticationToken": Outcome.PROVIDER_FAULT,
    "ExpiredTokenException": Outcome.PROVIDER_FAULT,
    "RequestExpired": Outcome.PROVIDER_FAULT,
}
# A refusal of the message that really is about the account. Parts of its text, in lower case.
_ABOUT_THE_ACCOUNT = ("not verified", "configuration set", "sending paused", "not authorized")
_DAILY_QUOTA = "daily message quota"
_DAILY_QUOTA_PAUSE_SECONDS = 600.0  # "wait for an interval of up to 10 minutes"
_REGION = re.compile(r"[a-z0-9-]+")
_TYPE = re.compile(r"[A-Za-z]+")


class SesProvider(HttpProvider):
    """One region of one account. `ses` reads NOTIFYQ_SES_REGION, _ACCESS_KEY_ID and so on; `ses:b` NOTIFYQ_SES_B_…"""

    kind: ClassVar[str] = "ses"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.EMAIL})
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"REGION": "eu-west-1", **EMAIL_FROM}, ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "CONFIGURATION_SET", "URL")
    )

    def __init__(self, name: str, url: str, signer: Signer, sender: Mailbox, configuration_set: str = "") -> None:
        super().__init__(name, CAPABILITIES)
        self._url = url.rstrip("/") + PATH
        self._signer = signer
        self._sender = sender
        self._configuration_set = configuration_set

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        prefix = variable_prefix(name)
        region = settings.text(f"{prefix}_REGION").strip()
        if not _REGION.fullmatch(region):
            raise ConfigurationError(f"NOTIFYQ_{prefix}_REGION must be a region such as eu-west-1")
        url = settings.url(f"{prefix}_URL", f"https://email.{region}.amazonaws.com")
        configuration_set = settings.text(f"{prefix}_CONFIGURATION_SET", "")
        key, sender = _read_access_key(prefix, settings), read_sender(settings)
        return cls(name, url, find_signer(name, region, key), sender, configuration_set)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """ACCEPTED is 200 with a MessageId. SES makes the mail's Message-ID itself, out of that."""
        ends_at = time.monotonic() + timeout_seconds
        envelope = address(message, self._sender)
        if isinstance(envelope, Verdict):
            return envelope
        body = json.dumps(_document(message, envelope, self._configuration_set)).encode()
        headers = self._signer.headers(self._url, body, timeout_seconds=timeout_seconds)
        if isinstance(headers, Verdict):
            return headers
        remaining_seconds = ends_at - time.monotonic()
        if remaining_seconds <= 0:
            return Verdict.temporary("credentials_timeout", "the credentials were renewed too late to send")
        answer = self.post(self._url, data=body, headers=headers, timeout_seconds=remaining_seconds)
        return answer if isinstance(answer, Verdict) else _verdict(answer)


def _read_access_key(prefix: str, settings: ProviderSettings) -> tuple[str, str] | None:
    key = read_key(settings, f"{prefix}_ACCESS_KEY_ID", ""), read_key(settings, f"{prefix}_SECRET_ACCESS_KEY", "")
    if bool(key[0]) != bool(key[1]):
        raise ConfigurationError(
            f"NOTIFYQ_{prefix}_ACCESS_KEY_ID and NOTIFYQ_{prefix}_SECRET_ACCESS_KEY must both be set, or neither"
        )
    return key if key[0] else None


def _document(message: Message, envelope: Envelope, configuration_set: str) -> dict[str, Any]:
    body = {"Text": _content(envelope.text)} | ({"Html": _content(envelope.html)} if envelope.html else {})
    simple = {
        "Subject": _content(envelope.subject),
        "Body": body,
        "Headers": [{"Name": "Auto-Submitted", "Value": "auto-generated"}],
    }
    document: dict[str, Any] = {
        "FromEmailAddress": _ascii_form(envelope.sender),
        "Destination": {"ToAddresses": [envelope.recipient.address]},
        "ReplyToAddresses": [_ascii_form(envelope.reply_to)] if envelope.reply_to else [],
        "Content": {"Simple": simple},
        "EmailTags": [{"Name": KEY, "Value": str(message.id)}],
        "ConfigurationSetName": configuration_set,
    }
    return {name: value for name, value in document.items() if value}


def _content(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}


def _ascii_form(mailbox: Mailbox) -> str:
    """SES takes display names as they stand in a header: in ASCII, others as encoded words."""
    if is_plain(mailbox.name):
        return quoted_form(mailbox)
    words = encoded_words(mailbox.name, 0).replace("\r\n", "")
    return f"{words} <{mailbox.address}>"


def _verdict(answer: Answer) -> Verdict:
    fields = answer.fields()
    if answer.status == 200 and (message_id := proof(fields.get("MessageId"))):
        return Verdict.accepted(message_id)
    error = _error_type(answer)
    outcome = _TYPES.get(error) if 400 <= answer.status < 500 else None
    said = fields.get("message", fields.get("Message"))
    text = said.lower() if isinstance(said, str) else ""
    if outcome is Outcome.TEMPORARY:
        pause = _DAILY_QUOTA_PAUSE_SECONDS if _DAILY_QUOTA in text else answer.retry_after_seconds
        slower = answer.telling("SES is being asked too often")
        return Verdict.temporary(error, slower, retry_after_seconds=pause, throttled=True)
    if outcome is Outcome.REJECTED and not any(part in text for part in _ABOUT_THE_ACCOUNT):
        return Verdict.rejected(error, answer.telling("SES refuses the message"))
    if outcome is None:
        return status_verdict(answer)
    return Verdict.provider_fault(error, answer.telling("SES refuses the account or its sender"))


def _error_type(answer: Answer) -> str:
    """The type of an error: in a header, or in the body; perhaps with a namespace before or an address behind it."""
    fields = answer.fields()
    for said in (answer.headers.get("x-amzn-errortype"), fields.get("__type"), fields.get("code")):
        if isinstance(said, str) and (found := _TYPE.match(said.rpartition("#")[2])):
            return found[0]
    return ""
