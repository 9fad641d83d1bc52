"""Variables that look like settings and are none: a misspelt one would otherwise be passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from notifications.errors import ConfigurationError
from notifications.providers import registry
from notifications.receipts.registry import RECEIVERS
from notifyq.env import PREFIX, Environment
from notifyq.startup import EMBEDDED_DIR

# Read only when a provider that needs them is in a chain, or not as a setting.
_READ_ELSEWHERE = frozenset(
    {"NOTIFYQ_EMAIL_FROM", "NOTIFYQ_SMS_FROM", "NOTIFYQ_RECEIPTS_URL", "NOTIFYQ_EXTRA_PROVIDERS", EMBEDDED_DIR}
)
_FILE = "_FILE"


def unknown_variables(variables: Mapping[str, str] | None = None) -> Iterator[tuple[str, str]]:
    """Every NOTIFYQ_… variable that nothing reads, with the known name most like it, or an empty text.

    To be called once the settings are loaded and the providers built: what these have read is what is known. Names
    that begin like those of a provider, built or not, are left to that provider.
    """
    given = os.environ if variables is None else variables
    known = {name for name in Environment.read if name.startswith(PREFIX)} | _READ_ELSEWHERE
    providers = tuple(f"{PREFIX}{kind.upper().replace('-', '_')}_" for kind in _kinds(given))
    for name in sorted(given):
        plain = name.removesuffix(_FILE)
        if name.startswith(PREFIX) and plain not in known and not name.startswith(providers):
            yield name, next(iter(get_close_matches(plain, known, 1)), "")


def warnings(variables: Mapping[str, str] | None = None) -> list[str]:
    """A line for each, without its value, which may be a secret."""
    return [
        f"{name} is no setting and is ignored{f'; did you mean {nearest}?' if nearest else ''}"
        for name, nearest in unknown_variables(variables)
    ]


def _kinds(variables: Mapping[str, str]) -> set[str]:
    try:
        return registry.kinds(Environment(variables)) | set(RECEIVERS)
    except ConfigurationError:
        return {*registry.ADAPTERS, *RECEIVERS}
