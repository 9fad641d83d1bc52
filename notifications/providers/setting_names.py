"""What the settings of an adapter's instances are called, so that a misspelt one is noticed and a missing one is named
before anything is built. Pure; reads no value but to see whether there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notifications.providers.base import ProviderSettings

PREFIX = "NOTIFYQ_"
EMAIL_FROM: Mapping[str, str] = {"NOTIFYQ_EMAIL_FROM": "Shop <shop@example.com>"}
SMS_FROM: Mapping[str, str] = {"FROM|NOTIFYQ_SMS_FROM": "+14155550100"}


@dataclass(frozen=True, slots=True)
class SettingNames:
    """Names of settings: `API_KEY` stands for the NOTIFYQ_SENDGRID_API_KEY of `sendgrid` and for the
    NOTIFYQ_SENDGRID_EU_API_KEY of `sendgrid:eu`. One that begins with NOTIFYQ_ is shared by all providers.

    Attributes:
        needed: those without a default, each with an example for the message that it is missing, or an empty text.
            Of several joined by `|` one will do.
        optional: the others.
        needed_with_label: those that only a labelled instance has no default for.
    """

    needed: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    needed_with_label: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[str]:
        for name in (*self.needed, *self.needed_with_label, *self.optional):
            yield from name.split("|")

    @property
    def own(self) -> frozenset[str]:
        """Those that each instance has for itself."""
        return frozenset(name for name in self if not name.startswith(PREFIX))

    @property
    def shared(self) -> frozenset[str]:
        return frozenset(name for name in self if name.startswith(PREFIX))

    def needed_by(self, name: str) -> Mapping[str, str]:
        """What the instance called `name` needs."""
        return {**self.needed, **self.needed_with_label} if ":" in name else self.needed


def full(prefix: str, name: str) -> str:
    """The whole name of a setting of the instance whose settings begin with `prefix` (`SENDGRID_EU`)."""
    return name if name.startswith(PREFIX) else f"{PREFIX}{prefix}_{name}"


def missing(needed: Mapping[str, str], prefix: str, settings: ProviderSettings) -> dict[str, str]:
    """What of it is not set: full name → how to name it in a message.

    Raises:
        ConfigurationError: one cannot be read, as its file is not there.
    """
    found = {}
    for joined, example in needed.items():
        first, *others = (full(prefix, name) for name in joined.split("|"))
        if not any(settings.text(name.removeprefix(PREFIX), "").strip() for name in (first, *others)):
            beside = [f"or {name}" for name in others] + ([f"such as {example}"] if example else [])
            found[first] = f"{first} ({', '.join(beside)})" if beside else first
    return found
