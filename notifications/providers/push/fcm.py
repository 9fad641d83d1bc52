"""Push through Firebase Cloud Messaging (HTTP v1), to devices whose address begins with `fcm:` or `fcm-fid:`.

FCM knows no key of ours and answers no questions, but devices collapse copies, so a repeat does no harm.
"""

from __future__ import annotations

import re
from typing import ClassVar, Protocol, Self

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, Message, ProviderSettings
from notifications.providers.http import Answer, HttpProvider
from notifications.providers.push.account import prefix_of, secret_text
from notifications.providers.push.fcm_answers import verdict_of
from notifications.providers.push.fcm_message import document, is_fcm_address
from notifications.providers.push.google_account import ServiceAccount, parse_service_account
from notifications.providers.push.google_token import AccessTokens, Token
from notifications.providers.setting_names import SettingNames
from notifications.verdict import Outcome, Verdict
from notifyq.runtime.clock import elapsed

DEFAULT_URL = "https://fcm.googleapis.com"
CAPABILITIES = Capabilities(duplicate_harm=DuplicateHarm.NONE)
TOKEN_SHARE = 0.5
"""Of the time for a call, how much may go to fetching a token: the message needs the rest."""
_PROJECT = re.compile(r"[A-Za-z0-9:.\-]{1,100}", re.ASCII)


class Tokens(Protocol):
    """Where access tokens come from."""

    def get(self, timeout_seconds: float) -> Token | Verdict: ...
    def refused(self, token: Token) -> bool: ...


class FcmProvider(HttpProvider):
    """One Firebase project.

    Args:
        url: of the vendor, with scheme and host.
        tokens: of the account that sends; the account's own when absent.
    """

    kind: ClassVar[str] = "fcm"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.PUSH})
    setting_names: ClassVar[SettingNames] = SettingNames(
        {"CREDENTIALS": "/etc/notifyq/service-account.json"}, ("PROJECT_ID", "URL")
    )

    def __init__(
        self, name: str, account: ServiceAccount, project_id: str, url: str = DEFAULT_URL, tokens: Tokens | None = None
    ) -> None:
        super().__init__(name, CAPABILITIES)
        self._send_url = f"{url.rstrip('/')}/v1/projects/{project_id}/messages:send"
        self._tokens = tokens or AccessTokens(account, self._post_form)

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        """Read FCM_CREDENTIALS, FCM_PROJECT_ID and FCM_URL (for `fcm:label` FCM_LABEL_…)."""
        prefix = prefix_of(name)
        try:
            account = parse_service_account(secret_text(settings, f"{prefix}_CREDENTIALS", "{"))
        except ValueError as error:
            raise ConfigurationError(f"NOTIFYQ_{prefix}_CREDENTIALS {error}") from None
        project_id = settings.text(f"{prefix}_PROJECT_ID", account.project_id or None).strip()
        if not _PROJECT.fullmatch(project_id):
            raise ConfigurationError(f"NOTIFYQ_{prefix}_PROJECT_ID must be the id of a Firebase project")
        return cls(name, account, project_id, settings.url(f"{prefix}_URL", DEFAULT_URL))

    @classmethod
    def carries(cls, recipient: str) -> bool:
        return is_fcm_address(recipient)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """See `Provider.send`. A token that has to be fetched first is fetched within the same time."""
        ends = elapsed() + timeout_seconds
        token = self._tokens.get(timeout_seconds * TOKEN_SHARE)
        if isinstance(token, Verdict):
            return token
        left_seconds = ends - elapsed()
        if left_seconds <= 0:
            return Verdict.temporary("token_read_timeout", "the access token came too late; nothing was sent")
        answer = self.post(
            self._send_url,
            json=document(message),
            headers={"Authorization": f"Bearer {token.value}"},
            timeout_seconds=left_seconds,
        )
        return answer if isinstance(answer, Verdict) else self._verdict(answer, token)

    def _verdict(self, answer: Answer, token: Token) -> Verdict:
        verdict = verdict_of(answer)
        if verdict.outcome is not Outcome.PROVIDER_FAULT or verdict.error_code != "http_401":
            return verdict
        if self._tokens.refused(token):
            return Verdict.temporary("access_token_refused", "the access token is no longer taken; another is fetched")
        return verdict

    def _post_form(self, url: str, form: dict[str, str], timeout_seconds: float) -> Answer | Verdict:
        return self.post(url, data=form, timeout_seconds=timeout_seconds)
