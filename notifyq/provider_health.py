"""The settings of the providers' breakers and rates: for all, and for one by its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from notifications.breaker import BreakerRule
from notifications.errors import ConfigurationError
from notifications.providers.instance_names import settings_prefix

if TYPE_CHECKING:
    from notifyq.env import Environment

RATE_MOST = 100_000.0
RATE_LEAST = 0.001  # a call in a quarter of an hour
OF_ONE_PROVIDER = (
    "BREAKER_FAILURES",
    "BREAKER_COOLDOWN_SECONDS",
    "BREAKER_MIN_VOLUME",
    "BREAKER_FAILURE_RATE",
    "BREAKER_WINDOW_SECONDS",
    "RATE_PER_SECOND",
)
"""What can be set for a provider by its name, behind its prefix."""


def breaker_rules(env: Environment, providers: Iterable[str]) -> dict[str, BreakerRule]:
    """When the breaker of each provider opens: NOTIFYQ_BREAKER_…, or NOTIFYQ_<PROVIDER>_BREAKER_… where that is set.

    Raises:
        ConfigurationError: one line that names what is wrong.
    """
    usual = _rule(env, "", BreakerRule())
    return {name: _rule(env, f"{variable_prefix(name)}_", usual) for name in providers}


def provider_rates(env: Environment, providers: Iterable[str]) -> dict[str, float]:
    """The calls a second of those providers that have NOTIFYQ_<PROVIDER>_RATE_PER_SECOND; 0 stands for no rate.

    Raises:
        ConfigurationError: one line that names what is wrong.
    """
    rates = {name: env.number(f"{variable_prefix(name)}_RATE_PER_SECOND", 0.0, most=RATE_MOST) for name in providers}
    for name, rate in rates.items():
        if 0 < rate < RATE_LEAST:
            raise ConfigurationError(
                f"NOTIFYQ_{variable_prefix(name)}_RATE_PER_SECOND must be 0 or at least {RATE_LEAST:g}, not {rate:g}"
            )
    return {name: rate for name, rate in rates.items() if rate}


def variable_prefix(provider: str) -> str:
    """How the names of a provider's settings begin: `sandbox:a` → `SANDBOX_A`."""
    return settings_prefix(provider)


def _rule(env: Environment, prefix: str, usual: BreakerRule) -> BreakerRule:
    return BreakerRule(
        failures=env.whole(f"{prefix}BREAKER_FAILURES", usual.failures, least=1, most=10_000),
        cooldown_seconds=env.number(f"{prefix}BREAKER_COOLDOWN_SECONDS", usual.cooldown_seconds, above=0, most=86_400),
        min_volume=env.whole(f"{prefix}BREAKER_MIN_VOLUME", usual.min_volume, most=1_000_000),
        failure_rate=env.number(f"{prefix}BREAKER_FAILURE_RATE", usual.failure_rate, above=0, most=1),
        window_seconds=env.number(f"{prefix}BREAKER_WINDOW_SECONDS", usual.window_seconds, least=1, most=3600),
    )
