"""Which variables are taken for misspelt settings."""

import pytest

from notifications.providers.base import Provider
from notifications.providers.setting_names import SettingNames
from notifyq.env import Config, Environment
from notifyq.provider_health import OF_ONE_PROVIDER, breaker_rules, provider_rates
from notifyq.unknown_variables import unknown_variables, warnings


@pytest.fixture(autouse=True)
def _settings_are_read(monkeypatch):
    """What other tests have read, of labelled instances for one, is not known here."""
    monkeypatch.setattr(Environment, "read", set())
    Config.load(Environment({}))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("NOTIFYQ_RATELIMIT_COUNT", "NOTIFYQ_RATE_LIMIT_COUNT"),
        ("NOTIFYQ_EMAIL_PROVIDER", "NOTIFYQ_EMAIL_PROVIDERS"),
        ("NOTIFYQ_METRIC_TOKEN_FILE", "NOTIFYQ_METRICS_TOKEN"),
        ("NOTIFYQ_ZZZZZZZZZZZZZZZZZZZZZZZ", ""),
        ("NOTIFYQ_MAILGUN_RECEIPT_SECRET", "NOTIFYQ_MAILGUN_RECEIPT_SECRETS"),
        ("NOTIFYQ_SES_RECEIPT_SECRETS", "NOTIFYQ_SES_RECEIPT_TOPICS"),
        ("NOTIFYQ_SENDGRID_APIKEY", "NOTIFYQ_SENDGRID_API_KEY"),
        ("NOTIFYQ_SENDGRID_APIKEY_FILE", "NOTIFYQ_SENDGRID_API_KEY"),
        ("NOTIFYQ_SENDGRID_TIMEOUT", "NOTIFYQ_SEND_TIMEOUT_SECONDS"),
        ("NOTIFYQ_TWILIO_TOKEN", "NOTIFYQ_TWILIO_AUTH_TOKEN"),
        ("NOTIFYQ_SENDGRID_BREAKER_FAILURE", "NOTIFYQ_SENDGRID_BREAKER_FAILURES"),
        ("NOTIFYQ_SENGRID_API_KEY", "NOTIFYQ_SENDGRID_API_KEY"),
        # Labels that nothing names are slips, not instances.
        ("NOTIFYQ_MAILGUN_BASE_URL", "NOTIFYQ_MAILGUN_URL"),
        ("NOTIFYQ_SES_AWS_ACCESS_KEY_ID", "NOTIFYQ_SES_ACCESS_KEY_ID"),
        ("NOTIFYQ_KUDISMS_HOST", ""),
    ],
)
def test_unknown__name_that_nothing_reads__comes_with_the_nearest(name, nearest):
    assert list(unknown_variables({name: "x"})) == [(name, nearest)]


@pytest.mark.parametrize(
    "name",
    [
        "NOTIFYQ_RATE_LIMIT_COUNT",
        "NOTIFYQ_METRICS_TOKEN_FILE",
        "NOTIFYQ_SMTP_URL",
        "NOTIFYQ_SMTP_BACKUP_URL",
        "NOTIFYQ_EMAIL_FROM",
        "NOTIFYQ_SMS_FROM",
        "NOTIFYQ_SENDGRID_API_KEY",
        "NOTIFYQ_SENDGRID_RATE_PER_SECOND",
        "NOTIFYQ_TWILIO_BREAKER_COOLDOWN_SECONDS",
        "NOTIFYQ_APNS_KEY_FILE",
        "NOTIFYQ_EMBEDDED_DIR",
        "DATABASE_URI",
    ],
)
def test_unknown__setting_or_not_ours__is_not_named(name):
    assert list(unknown_variables({name: "x"})) == []


@pytest.mark.parametrize(
    "given",
    [
        {"NOTIFYQ_SMS_PROVIDERS": "twilio,twilio:eu", "NOTIFYQ_TWILIO_EU_FROM": "x", "NOTIFYQ_TWILIO_EU_URL_FILE": "x"},
        {"NOTIFYQ_RECEIPT_PROVIDERS": "twilio:eu", "NOTIFYQ_TWILIO_EU_RECEIPT_SECRETS": "x"},
        # It has left its chain, and all that it needs is still there.
        {
            "NOTIFYQ_TWILIO_EU_ACCOUNT_SID_FILE": "/x",
            "NOTIFYQ_TWILIO_EU_API_KEY": "x",
            "NOTIFYQ_TWILIO_EU_API_SECRET": "x",
            "NOTIFYQ_TWILIO_EU_BREAKER_FAILURES": "9",
        },
    ],
    ids=["in a chain", "reports", "left its chain"],
)
def test_unknown__of_a_labelled_instance__is_not_named(given):
    assert list(unknown_variables(given)) == []


def test_unknown__misspelt_for_a_labelled_instance__comes_with_its_own_name():
    given = {"NOTIFYQ_SMS_PROVIDERS": "twilio:eu", "NOTIFYQ_TWILIO_EU_AUTHTOKEN": "x"}

    assert list(unknown_variables(given)) == [("NOTIFYQ_TWILIO_EU_AUTHTOKEN", "NOTIFYQ_TWILIO_EU_AUTH_TOKEN")]


class Pigeon(Provider):
    """An adapter from outside, which says what its settings are called."""

    setting_names = SettingNames({"LOFT": ""}, ("URL",))


@pytest.mark.parametrize("target", ["birds:Pigeon", "tests.support.askable:Askable"])
def test_unknown__of_an_adapter_that_says_nothing_of_its_names__is_not_named(target):
    given = {"NOTIFYQ_EXTRA_PROVIDERS": f"pigeon={target}", "NOTIFYQ_PIGEON_LOFT": "x"}

    assert list(unknown_variables(given)) == []


def test_unknown__of_an_adapter_from_outside__is_known_by_what_that_says():
    given = {
        "NOTIFYQ_EXTRA_PROVIDERS": f"pigeon={__name__}:Pigeon",
        "NOTIFYQ_PIGEON_LOFT": "",
        "NOTIFYQ_PIGEON_LOFTS": "",
    }

    assert list(unknown_variables(given)) == [("NOTIFYQ_PIGEON_LOFTS", "NOTIFYQ_PIGEON_LOFT")]


def test_settings_of_one_provider__are_those_that_are_read_for_it(monkeypatch):
    monkeypatch.setattr(Environment, "read", set())
    breaker_rules(Environment({}), ["zzz"])
    provider_rates(Environment({}), ["zzz"])

    assert {name for name in Environment.read if "ZZZ" in name} == {f"NOTIFYQ_ZZZ_{name}" for name in OF_ONE_PROVIDER}


def test_warnings__of_a_secret__do_not_repeat_it():
    assert warnings({"NOTIFYQ_METRIC_TOKEN": "hunter2"}) == [
        "NOTIFYQ_METRIC_TOKEN is no setting and is ignored; did you mean NOTIFYQ_METRICS_TOKEN?"
    ]
