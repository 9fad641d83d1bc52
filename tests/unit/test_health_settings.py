"""The settings of breakers and rates, for all providers and for one."""

from __future__ import annotations

import pytest

from notifications.breaker import BreakerRule
from notifications.errors import ConfigurationError
from notifyq.env import Config, Environment
from notifyq.provider_health import variable_prefix


def load(**variables: str) -> Config:
    chain = {"NOTIFYQ_EMAIL_PROVIDERS": "sandbox:a,sandbox:b-2"}
    return Config.load(Environment(chain | {f"NOTIFYQ_{name}": value for name, value in variables.items()}))


def test_settings__none__are_those_of_the_rules_and_no_rate() -> None:
    config = load()
    assert set(config.breaker_rules) == {"sandbox", "sandbox:a", "sandbox:b-2"}
    assert set(config.breaker_rules.values()) == {BreakerRule()}
    assert config.provider_rates == {}


def test_settings__for_one_provider__leave_the_others_as_all_are() -> None:
    config = load(
        BREAKER_FAILURES="7", SANDBOX_A_BREAKER_FAILURES="2", SANDBOX_B_2_RATE_PER_SECOND="0.5", BREAKER_MIN_VOLUME="9"
    )
    assert {name: rule.failures for name, rule in config.breaker_rules.items()} == {
        "sandbox": 7,
        "sandbox:a": 2,
        "sandbox:b-2": 7,
    }
    assert config.breaker_rules["sandbox:a"].min_volume == 9
    assert config.provider_rates == {"sandbox:b-2": 0.5}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BREAKER_FAILURES", "0"),
        ("BREAKER_COOLDOWN_SECONDS", "0"),
        ("BREAKER_FAILURE_RATE", "1.5"),
        ("SANDBOX_A_BREAKER_WINDOW_SECONDS", "soon"),
        ("SANDBOX_A_RATE_PER_SECOND", "-1"),
        ("SANDBOX_A_RATE_PER_SECOND", "1e-9"),
    ],
)
def test_settings__a_wrong_value__is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^NOTIFYQ_{name} must be"):
        load(**{name: value})


def test_prefix__of_a_label__is_that_of_the_adapters_settings() -> None:
    assert variable_prefix("sandbox:b-2") == "SANDBOX_B_2"
