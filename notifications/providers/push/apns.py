"""Push straight to Apple (APNs), to devices whose address begins with `apns:`. Needs the extra `apns`.

APNs knows no key of ours and answers no questions, but devices collapse copies, so a repeat does no harm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from notifications.channel import Channel
from notifications.device_payload import encoded, payload
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, Message, Provider, ProviderSettings
from notifications.providers.http import Answer
from notifications.providers.push.account import matching, prefix_of, secret_text
from notifications.providers.push.apns_answers import EXPIRED_TOKEN, reason_of, verdict_of
from notifications.providers.push.apns_key import TeamKey, TeamTokens, Token, parse_key
from notifications.providers.push.fcm_message import collapse_key
from notifications.providers.setting_names import SettingNames
from notifications.verdict import Verdict

if TYPE_CHECKING:
    from notifications.providers.push.http2 import Http2Caller

DEFAULT_URL = "https://api.push.apple.com"
CAPABILITIES = Capabilities(duplicate_harm=DuplicateHarm.NONE)
PREFIX = "apns:"
KEPT_SECONDS = 28 * 86_400
"""How long a message without a time to live is kept for a device that is away; as long as FCM does by itself, and
within Apple's 30 days."""


class ApnsProvider(Provider):
    """One app (topic) of one developer team."""

    kind: ClassVar[str] = "apns"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.PUSH})
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"KEY": "/etc/notifyq/AuthKey_ABC123DEFG.p8", "KEY_ID": "", "TEAM_ID": "", "TOPIC": "com.example.shop"},
        ("URL",),
    )

    def __init__(self, name: str, tokens: TeamTokens, topic: str, caller: Http2Caller) -> None:
        super().__init__(name, CAPABILITIES)
        self._tokens = tokens
        self._topic = topic
        self._caller = caller

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        """Read APNS_KEY, APNS_KEY_ID, APNS_TEAM_ID, APNS_TOPIC and APNS_URL (for `apns:label` APNS_LABEL_…)."""
        prefix = prefix_of(name)
        try:
            from notifications.providers.push.http2 import Http2Caller
        except ModuleNotFoundError as error:
            needed = f"provider {name!r} needs the extra `apns`, as in pip install -e '.[apns]'"
            raise ConfigurationError(f"{needed}: {error.name} is missing") from None
        try:
            key = parse_key(secret_text(settings, f"{prefix}_KEY", "-----BEGIN"))
        except ValueError as error:
            raise ConfigurationError(f"NOTIFYQ_{prefix}_KEY {error}") from None
        form, what = "[A-Z0-9]{10}", "the 10 letters and digits that Apple shows"
        key_id, team_id = (matching(settings, f"{prefix}_{part}", form, what) for part in ("KEY_ID", "TEAM_ID"))
        topic = matching(settings, f"{prefix}_TOPIC", r"[A-Za-z0-9.\-]{1,255}", "the app's bundle id")
        try:
            caller = Http2Caller(settings.url(f"{prefix}_URL", DEFAULT_URL))
        except ValueError:
            raise ConfigurationError(f"NOTIFYQ_{prefix}_URL must be a URL in ASCII") from None
        return cls(name, TeamTokens(TeamKey(key_id, team_id, key)), topic, caller)

    @classmethod
    def carries(cls, recipient: str) -> bool:
        return recipient.startswith(PREFIX)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """See `Provider.send`."""
        token = self._tokens.get()
        answer = self._caller.post(
            f"/3/device/{message.recipient.removeprefix(PREFIX)}",
            self._headers(message, token),
            encoded(payload(message.subject, message.body, message.data, message.id)),
            timeout_seconds=timeout_seconds,
        )
        return answer if isinstance(answer, Verdict) else self._verdict(answer, message, token)

    def close(self) -> None:
        self._caller.close()

    def _headers(self, message: Message, token: Token) -> dict[str, str]:
        """Source: Apple, Sending notification requests to APNs, read 2026-11-30."""
        expires = message.expires_at.timestamp() if message.expires_at else token.issued_at + KEPT_SECONDS
        return {
            "authorization": f"bearer {token.value}",
            "apns-topic": self._topic,
            "apns-push-type": "alert",
            "apns-id": str(message.id),
            "apns-expiration": str(int(expires)),
            "apns-priority": "10" if message.urgent else "5",
            "apns-collapse-id": collapse_key(message),
            "content-type": "application/json",
        }

    def _verdict(self, answer: Answer, message: Message, token: Token) -> Verdict:
        if answer.status == 403 and reason_of(answer) == EXPIRED_TOKEN and self._tokens.expired(token):
            return Verdict.temporary("provider_token_expired", "APNs found the token too old; another is made")
        return verdict_of(answer, message.id)
