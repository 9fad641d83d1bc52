import pytest

from notifications.errors import ConfigurationError
from notifications.providers import registry
from notifyq.env import Environment


def build(name, **variables):
    return registry.build(name, Environment({f"NOTIFYQ_{key}": value for key, value in variables.items()}))


def test_sandbox__no_settings__dedupes_and_can_be_asked():
    provider = build("sandbox")

    assert (provider.name, provider.capabilities.dedupes, bool(provider.capabilities.lookup)) == ("sandbox", True, True)
    assert registry.usual_lookup("sandbox:a") == provider.capabilities.lookup


def test_sandbox__labelled__reads_its_own_settings():
    variables = {"SANDBOX_A_URL": "http://127.0.0.1:9", "SANDBOX_A_DEDUPE": "false", "SANDBOX_DEDUPE": "true"}
    provider = build("sandbox:a", **variables, SANDBOX_A_LOOKUP="false")

    assert (provider.name, provider.capabilities.dedupes, bool(provider.capabilities.lookup)) == (
        "sandbox:a",
        False,
        False,
    )


@pytest.mark.parametrize(
    ("name", "variables", "named"),
    [
        ("sandbox", {"SANDBOX_URL": "ftp://x"}, "NOTIFYQ_SANDBOX_URL"),
        ("sandbox", {"SANDBOX_DEDUPE": "perhaps"}, "NOTIFYQ_SANDBOX_DEDUPE"),
        ("sandbox:a", {}, "NOTIFYQ_SANDBOX_A_URL"),
        ("sandbox:eu-1", {"SANDBOX_EU_1_URL": "nowhere"}, "NOTIFYQ_SANDBOX_EU_1_URL"),
        ("sandbox:", {}, "sandbox:"),
        ("sandbox:a b", {}, "sandbox:a b"),
    ],
)
def test_sandbox__wrong_settings__are_named(name, variables, named):
    with pytest.raises(ConfigurationError, match=named):
        build(name, **variables)
