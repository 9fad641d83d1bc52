"""What the instances of providers may be called. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from notifications.errors import ConfigurationError

NAME_LENGTH_MOST = 40
"""Of `kind:label` as a whole; the columns that hold one have this length."""
_NAME = re.compile("[A-Za-z0-9_-]+(:[A-Za-z0-9_-]+)?")


def check_name(name: str, variable: str) -> None:
    """See whether a name could be stored, and the names of its settings made of it.

    Args:
        variable: where it was read, for the message.

    Raises:
        ConfigurationError: it is too long, or has characters that cannot stand in the name of a variable.
    """
    if len(name) > NAME_LENGTH_MOST:
        raise ConfigurationError(
            f"{variable} names {name[:NAME_LENGTH_MOST]!r}… of {len(name)} characters; the name of a provider, "
            f"its label included, may have {NAME_LENGTH_MOST}"
        )
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{variable} names {name!r}; the name of a provider, and the label behind its colon, must be letters "
            "of English, digits, - and _"
        )


def check_apart(names: Iterable[tuple[str, str]]) -> None:
    """See whether each provider has settings of its own.

    Args:
        names: pairs of the variable where a provider was named, and its name.

    Raises:
        ConfigurationError: two providers would read the same variables.
    """
    first: dict[str, str] = {}
    for variable, name in names:
        prefix = settings_prefix(name)
        other = first.setdefault(prefix, name)
        if other != name:
            raise ConfigurationError(
                f"{variable} names {name!r} beside {other!r}; both would read the variables NOTIFYQ_{prefix}_…"
            )


def settings_prefix(name: str) -> str:
    """How the names of a provider's settings begin: `sandbox:a` → `SANDBOX_A`."""
    return re.sub("[^A-Za-z0-9]", "_", name).upper()
