"""Two vendors of push without a network, each for the devices of one platform."""

from __future__ import annotations

from typing import ClassVar, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, DuplicateHarm, Message, Provider, ProviderSettings
from notifications.verdict import Verdict


class Platform(Provider):
    """Copies collapse on its devices. Answers what it is told to, else accepts; keeps what it is asked to send."""

    kind = "platform"
    channels = frozenset({Channel.PUSH})
    prefixes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str, *verdicts: Verdict) -> None:
        super().__init__(name, Capabilities(duplicate_harm=DuplicateHarm.NONE))
        self.verdicts = list(verdicts)
        self.sent: list[Message] = []

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        return cls(name)

    @classmethod
    def carries(cls, recipient: str) -> bool:
        return recipient.startswith(cls.prefixes)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        self.sent.append(message)
        return self.verdicts.pop(0) if self.verdicts else Verdict.accepted(f"m-{message.id}")


class Google(Platform):
    prefixes = ("fcm:", "fcm-fid:")


class Apple(Platform):
    prefixes = ("apns:",)
