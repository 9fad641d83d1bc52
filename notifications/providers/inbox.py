"""The provider of IN_APP: the service's own inbox. Nothing leaves the machine."""

from __future__ import annotations

from typing import ClassVar, Self

from notifications.channel import INBOX, Channel
from notifications.providers.base import Capabilities, DuplicateHarm, Message, Provider, ProviderSettings
from notifications.providers.setting_names import SettingNames
from notifications.verdict import Verdict

_ALWAYS_SECONDS = 100 * 365 * 86_400.0


class InboxProvider(Provider):
    """Accepts everything. The entry itself is made in the transaction that settles the verdict
    (`notifications.queue.inbox`), since a delivery thread has no connection; there is one for each notification, so a
    repeat makes no second one."""

    kind: ClassVar[str] = INBOX
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.IN_APP})
    setting_names: ClassVar[SettingNames] = SettingNames()

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        """It has no settings."""
        return cls(
            name,
            Capabilities(
                dedupe_window_seconds=_ALWAYS_SECONDS, duplicate_harm=DuplicateHarm.NONE, sends_at_settle=True
            ),
        )

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """The proof is the notification's own id, by which its entry is unique."""
        return Verdict.accepted(str(message.id))
