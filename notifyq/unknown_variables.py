"""Variables that look like settings and are none: a misspelt one would otherwise be passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from notifyq.env import PREFIX, Environment
from notifyq.provider_variables import Family, families
from notifyq.startup import EMBEDDED_DIR

# Not read as a setting.
_READ_ELSEWHERE = frozenset({"NOTIFYQ_EXTRA_PROVIDERS", EMBEDDED_DIR})
_FILE = "_FILE"


def unknown_variables(variables: Mapping[str, str] | None = None) -> Iterator[tuple[str, str]]:
    """Every NOTIFYQ_… variable that nothing reads, with the known name most like it, or an empty text.

    To be called once the settings are loaded: what these have read is known, and what the adapters say that they read.
    """
    given = os.environ if variables is None else variables
    read = {name for name in Environment.read if name.startswith(PREFIX)} | _READ_ELSEWHERE
    doubtful = sorted(name for name in given if name.startswith(PREFIX) and name.removesuffix(_FILE) not in read)
    if not doubtful:
        return
    known_families = families(given)
    shared = read.union(*(family.declared.shared for family in known_families if family.declared))
    plain_given = {name.removesuffix(_FILE) for name in given}
    for name in doubtful:
        plain = name.removesuffix(_FILE)
        if plain not in shared and not any(family.has(plain, plain_given) for family in known_families):
            yield name, _nearest(plain, shared, known_families)


def warnings(variables: Mapping[str, str] | None = None) -> list[str]:
    """A line for each, without its value, which may be a secret."""
    return [
        f"{name} is no setting and is ignored{f'; did you mean {nearest}?' if nearest else ''}"
        for name, nearest in unknown_variables(variables)
    ]


def _nearest(name: str, shared: Iterable[str], known_families: Iterable[Family]) -> str:
    """Of a provider's settings only what stands behind the provider is compared: all begin alike."""
    of_providers: set[str] = set()
    for family in known_families:
        of_providers |= family.names()
        if name.startswith(family.prefix):
            return _most_like(name, family.names(), family.prefix) or _most_like(name, shared, PREFIX)
    return _most_like(name, {*shared, *of_providers}, PREFIX)


def _most_like(name: str, names: Iterable[str], prefix: str) -> str:
    """One whose end the name has, as where a label stands between, or else the one most like it; perhaps none."""
    tail, tails = name.removeprefix(prefix), {known.removeprefix(prefix): known for known in names}
    ends = [known for known in tails if tail.endswith(f"_{known}")]
    found = max(ends, key=len) if ends else next(iter(get_close_matches(tail, tails, 1)), "")
    return tails.get(found, "")
