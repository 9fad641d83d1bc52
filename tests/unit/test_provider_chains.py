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
            "^NOTIFYQ_SMTP_URL .such as smtp://user:password@host:587. and NOTIFYQ_EMAIL_FROM .such as "
            "Shop <shop@example.com>. are not set; they are needed because EMAIL goes through smtp$",
        ),
        (
            {"NOTIFYQ_EMAIL_PROVIDERS": "smtp", "NOTIFYQ_SMTP_URL": "smtp://localhost"},
            "^NOTIFYQ_EMAIL_FROM .+ is not set; it is needed because EMAIL goes through smtp$",
        ),
        (
            {"NOTIFYQ_EMAIL_PROVIDERS": "sendgrid", "NOTIFYQ_EMAIL_FROM": "shop@example.com"},
            "^NOTIFYQ_SENDGRID_API_KEY is not set; it is needed because EMAIL goes through sendgrid$",
        ),
        (
            {
                "NOTIFYQ_EMAIL_PROVIDERS": "sendgrid,mailgun:eu",
                "NOTIFYQ_SENDGRID_API_KEY": "k",
                "NOTIFYQ_SMS_PROVIDERS": "twilio",
                "NOTIFYQ_TWILIO_API_KEY": "k",
                "NOTIFYQ_PUSH_PROVIDERS": "sandbox:a",
            },
            "^NOTIFYQ_EMAIL_FROM .such as Shop <shop@example.com>. is not set; it is needed because EMAIL goes through "
            "sendgrid; NOTIFYQ_MAILGUN_EU_API_KEY and NOTIFYQ_MAILGUN_EU_DOMAIN .such as mail.example.com. are not "
            "set; they are needed because EMAIL goes through mailgun:eu; NOTIFYQ_TWILIO_ACCOUNT_SID and "
            "NOTIFYQ_TWILIO_FROM .or NOTIFYQ_SMS_FROM, such as .14155550100. are not set; they are needed because SMS "
            "goes through twilio; NOTIFYQ_SANDBOX_A_URL .such as http://127.0.0.1:8027. is not set; it is needed "
            "because PUSH goes through sandbox:a$",
        ),
        ({"NOTIFYQ_EMAIL_PROVIDERS": "sandbox:a", "NOTIFYQ_SMS_PROVIDERS": "sandbox:a"}, "because EMAIL and SMS go "),
    ],
    ids=["unknown", "another channel's", "no address", "no sender", "no key", "several", "of two channels"],
)
def test_chain__wrong__message_names_the_variable(variables, message):
    settings = Environment(variables)

    with pytest.raises(ConfigurationError, match=message):
        chains.build(Config.load(settings).provider_chains, settings)


def test_chain__of_a_provider_in_two_channels__builds_it_once():
    built = chains.build(Config.load(Environment({})).provider_chains, Environment({}))

    assert built[Channel.EMAIL].first is built[Channel.SMS].first
    chains.close(built)
