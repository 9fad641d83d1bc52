"""Which variables are taken for misspelt settings."""

import pytest

from notifyq.env import Config, Environment
from notifyq.unknown_variables import unknown_variables, warnings


@pytest.fixture(autouse=True)
def _settings_are_read():
    Config.load(Environment({}))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("NOTIFYQ_RATELIMIT_COUNT", "NOTIFYQ_RATE_LIMIT_COUNT"),
        ("NOTIFYQ_EMAIL_PROVIDER", "NOTIFYQ_EMAIL_PROVIDERS"),
        ("NOTIFYQ_METRIC_TOKEN_FILE", "NOTIFYQ_METRICS_TOKEN"),
        ("NOTIFYQ_ZZZZZZZZZZZZZZZZZZZZZZZ", ""),
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
        "NOTIFYQ_EMBEDDED_DIR",
        "DATABASE_URI",
    ],
)
def test_unknown__setting_or_not_ours__is_not_named(name):
    assert list(unknown_variables({name: "x"})) == []


def test_unknown__of_an_adapter_from_outside__is_not_named():
    given = {"NOTIFYQ_EXTRA_PROVIDERS": "pigeon=birds:Pigeon", "NOTIFYQ_PIGEON_LOFT": "x"}

    assert list(unknown_variables(given)) == []


def test_warnings__of_a_secret__do_not_repeat_it():
    assert warnings({"NOTIFYQ_METRIC_TOKEN": "hunter2"}) == [
        "NOTIFYQ_METRIC_TOKEN is no setting and is ignored; did you mean NOTIFYQ_METRICS_TOKEN?"
    ]
