"""The providers of each channel, in the order in which they are tried. Pure apart from reading settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers import registry
from notifications.providers.base import Provider, ProviderSettings
from notifications.providers.instance_settings import variable_prefix
from notifications.providers.setting_names import missing


@dataclass(frozen=True, slots=True)
class Chain:
    """The providers of one channel, first choice first."""

    providers: tuple[Provider, ...]

    @property
    def first(self) -> Provider | None:
        """None where nobody is left who serves an address."""
        return self.providers[0] if self.providers else None

    def serving(self, recipient: str) -> Chain:
        """Those that serve an address (canonical form): for a device, its platform's. It may be none.

        Whatever is asked about one notification is asked of this chain: an address that is not theirs never comes to
        the others, neither at first nor after a failure.
        """
        if all(p.carries(recipient) for p in self.providers):
            return self
        return Chain(tuple(p for p in self.providers if p.carries(recipient)))

    def named(self, name: str) -> Provider | None:
        """The provider of that name; None when it is no longer in the chain."""
        return next((p for p in self.providers if p.name == name), None)

    def records_start(self, provider: Provider) -> bool:
        """Whether a send through it is made durable before it begins: a repeat may be a second copy, and with several
        providers it might go to another one."""
        return provider.capabilities.repeat_window_seconds is None or len(self.providers) > 1


Chains = Mapping[Channel, Chain]


def build(names: Mapping[Channel, tuple[str, ...]], settings: ProviderSettings) -> Chains:
    """Build every provider that is named, once each.

    Raises:
        ConfigurationError: one line that names what is wrong; of settings that are missing, all of all providers.
    """
    for channel, chain in names.items():
        for name in chain:
            _check_carries(channel, name, settings)  # before its settings: whoever misplaced it need not have any
    _check_nothing_is_missing(names, settings)
    made: dict[str, Provider] = {}
    return {channel: _chain(chain, made, settings) for channel, chain in names.items()}


def _chain(names: tuple[str, ...], made: dict[str, Provider], settings: ProviderSettings) -> Chain:
    for name in names:
        if name not in made:
            made[name] = registry.build(name, settings)
    return Chain(tuple(made[name] for name in names))


def _check_nothing_is_missing(names: Mapping[Channel, tuple[str, ...]], settings: ProviderSettings) -> None:
    """Whoever sets a provider up is told of everything at once, and why it is wanted."""
    named: set[str] = set()
    lines = []
    for provider in dict.fromkeys(name for chain in names.values() for name in chain):
        declared = registry.find(provider, settings).setting_names
        needed = declared.needed_by(provider) if declared else {}
        lacking = missing(needed, variable_prefix(provider), settings) if needed else {}
        if new := [text for variable, text in lacking.items() if variable not in named]:
            lines.append(_is_not_set(new, [c for c, chain in names.items() if provider in chain], provider))
        named |= lacking.keys()
    if lines:
        raise ConfigurationError("; ".join(lines))


def _is_not_set(variables: list[str], channels: list[Channel], provider: str) -> str:
    unset = "is not set; it is needed" if len(variables) == 1 else "are not set; they are needed"
    go = "goes" if len(channels) == 1 else "go"
    return f"{_listed(variables)} {unset} because {_listed(channels)} {go} through {provider}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _check_carries(channel: Channel, name: str, settings: ProviderSettings) -> None:
    variable = f"NOTIFYQ_{channel}_PROVIDERS"
    try:
        adapter = registry.find(name, settings)
    except ConfigurationError as error:
        raise ConfigurationError(f"{variable} names {name!r}: {error}") from None
    if channel not in adapter.channels:
        raise ConfigurationError(f"{variable} names {name!r}, which cannot carry {channel}")


def is_served(names: Sequence[str], recipient: str) -> bool:
    """Whether a chain of these names serves an address, as far as that can be said without building it.

    An adapter from outside the project is not loaded for this and is taken to serve it.
    """
    return any(adapter is None or adapter.carries(recipient) for adapter in map(registry.built_in, names))


def close(chains: Chains) -> None:
    """Let every provider let go of its connections."""
    for provider in {id(p): p for chain in chains.values() for p in chain.providers}.values():
        provider.close()
