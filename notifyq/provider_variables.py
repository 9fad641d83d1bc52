"""Which variables are settings of providers: of every adapter, in a chain or not, and of its instances."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from notifications.channel import INBOX, Channel
from notifications.errors import ConfigurationError
from notifications.providers import registry
from notifications.providers.setting_names import PREFIX, SettingNames, full
from notifications.receipts.registry import RECEIVERS, variable_of
from notifyq.env import Environment
from notifyq.provider_health import OF_ONE_PROVIDER, variable_prefix


@dataclass(frozen=True, slots=True)
class Family:
    """The settings of all instances of one adapter.

    Attributes:
        kind: as in the registry.
        declared: None where the adapter does not say, or cannot be loaded.
        instances: the prefixes of those that the settings name, and of the one without a label.
    """

    kind: str
    declared: SettingNames | None
    instances: frozenset[str]

    @property
    def prefix(self) -> str:
        """What all their names begin with."""
        return f"{PREFIX}{variable_prefix(self.kind)}_"

    def names(self) -> set[str]:
        """The whole names of the settings of the known instances."""
        return {full(instance, name) for instance in self.instances for name in self._own()}

    def has(self, name: str, given: Collection[str]) -> bool:
        """Whether it is a setting of one of them.

        One of a label that the settings do not name counts where all that such an instance needs is given too: it has
        left its chain. Else the label is more likely a slip.
        """
        if not name.startswith(self.prefix):
            return False
        if self.declared is None or name in self.names():
            return True
        return any(self._has_left_its_chain(instance, given) for instance in self._instances_in(name))

    def _instances_in(self, name: str) -> Iterator[str]:
        """What may be the prefix of an instance in a name that ends with the name of one of its settings."""
        for own in self._own():
            instance = name.removeprefix(PREFIX).removesuffix(f"_{own}")
            if name.endswith(f"_{own}") and instance.startswith(self.prefix.removeprefix(PREFIX)):
                yield instance

    def _has_left_its_chain(self, instance: str, given: Collection[str]) -> bool:
        needed = self.declared.needed_by(f"{self.kind}:label") if self.declared else {}
        own = [joined.split("|") for joined in needed if PREFIX not in joined]
        return bool(own) and all(any(full(instance, name) in given for name in names) for names in own)

    def _own(self) -> frozenset[str]:
        own = self.declared.own if self.declared else frozenset()
        receipts = {variable_of(self.kind)} if self.kind in RECEIVERS else set()
        prefix = self.prefix.removeprefix(PREFIX)
        return own | {variable.removeprefix(prefix) for variable in receipts} | set(OF_ONE_PROVIDER)


def families(variables: Mapping[str, str]) -> list[Family]:
    """One for each adapter, those from outside the project too. Reads no secrets."""
    settings = Environment(variables)
    try:
        kinds = registry.kinds(settings)
    except ConfigurationError:  # whoever needs those adapters says so
        settings = Environment({**variables, "NOTIFYQ_EXTRA_PROVIDERS": "", "NOTIFYQ_EXTRA_PROVIDERS_FILE": ""})
        kinds = set(registry.ADAPTERS)
    named = set(_named(settings))
    return [_family(kind, settings, named) for kind in sorted(kinds - {INBOX})]


def _family(kind: str, settings: Environment, named: Collection[str]) -> Family:
    try:
        declared = registry.find(kind, settings).setting_names
    except ConfigurationError:
        declared = None
    instances = {variable_prefix(name) for name in named if name.partition(":")[0] == kind}
    return Family(kind, declared, frozenset({variable_prefix(kind), *instances}))


def _named(settings: Environment) -> Iterator[str]:
    """The instances in chains, and those that have left them and may still report."""
    for variable in (*(f"{channel}_PROVIDERS" for channel in Channel), "RECEIPT_PROVIDERS"):
        if variable != f"{Channel.IN_APP}_PROVIDERS":
            yield from settings.names(variable)
