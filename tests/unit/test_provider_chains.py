"""What a wrong chain of providers is answered with: one line that leads to the variable."""

import pytest

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifyq.env import Config, Environment


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"NOTIFYQ_EMAIL_PROVIDERS": "nosuch"},
            r"NOTIFYQ_EMAIL_PROVIDERS names 'nosuch': there is no provider called 'nosuch'; known are .*smtp",
        ),
        ({"NOTIFYQ_SMS_PROVIDERS": "smtp"}, "NOTIFYQ_SMS_PROVIDERS names 'smtp', which cannot carry SMS"),
        (
            {"NOTIFYQ_EMAIL_PROVIDERS": "smtp"},
            r"NOTIFYQ_SMTP_URL is not set; it must be a URL such as smtp://user:password@host:587",
        ),
        (
            {"NOTIFYQ_EMAIL_PROVIDERS": "smtp", "NOTIFYQ_SMTP_URL": "smtp://localhost"},
            r"NOTIFYQ_EMAIL_FROM is not set; it must be text such as Shop <shop@example.com>",
        ),
    ],
    ids=["unknown", "another channel's", "no address", "no sender"],
)
def test_chain__wrong__message_names_the_variable(variables, message):
    settings = Environment(variables)

    with pytest.raises(ConfigurationError, match=message):
        chains.build(Config.load(settings).provider_chains, settings)


def test_chain__of_a_provider_in_two_channels__builds_it_once():
    built = chains.build(Config.load(Environment({})).provider_chains, Environment({}))

    assert built[Channel.EMAIL].first is built[Channel.SMS].first
    chains.close(built)
