"""What a wrong chain of providers is answered with: one line that leads to the variable."""

import pytest
from django.apps import apps
from django.db.models import CharField

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifications.providers.instance_names import NAME_LENGTH_MOST
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


LONGEST = f"sandbox:{'x' * 32}"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"EMAIL_PROVIDERS": f"{LONGEST}x"}, "^NOTIFYQ_EMAIL_PROVIDERS names .+ of 41 characters; .+ may have 40$"),
        ({"RECEIPT_PROVIDERS": f"twilio:{'x' * 34}"}, "^NOTIFYQ_RECEIPT_PROVIDERS names .+ of 41 characters; "),
        ({"EMAIL_PROVIDERS": "sandbox:a b"}, "^NOTIFYQ_EMAIL_PROVIDERS names 'sandbox:a b'; .+ must be letters of "),
        ({"EMAIL_PROVIDERS": "sandbox:"}, "^NOTIFYQ_EMAIL_PROVIDERS names 'sandbox:'; "),
        ({"EMAIL_PROVIDERS": "sandbox:a:b"}, "^NOTIFYQ_EMAIL_PROVIDERS names 'sandbox:a:b'; "),
        ({"SMS_PROVIDERS": "sandbox:a\nb"}, r"^NOTIFYQ_SMS_PROVIDERS names 'sandbox:a\\nb'; "),
        ({"SMS_PROVIDERS": "sandbox:ä"}, "^NOTIFYQ_SMS_PROVIDERS names 'sandbox:ä'; "),
        (
            {"EMAIL_PROVIDERS": "sandbox:a,sandbox:A"},
            "^NOTIFYQ_EMAIL_PROVIDERS names 'sandbox:A' beside 'sandbox:a'; both would read .+ NOTIFYQ_SANDBOX_A_…$",
        ),
        (
            {"EMAIL_PROVIDERS": "sandbox:a-b", "SMS_PROVIDERS": "sandbox:a_b"},
            "^NOTIFYQ_SMS_PROVIDERS names 'sandbox:a_b' beside 'sandbox:a-b'; ",
        ),
    ],
)
def test_name__that_nothing_could_come_of__message_names_the_variable(variables, message):
    with pytest.raises(ConfigurationError, match=message):
        Config.load(Environment({f"NOTIFYQ_{name}": value for name, value in variables.items()}))


def test_name__as_long_as_may_be__is_taken():
    config = Config.load(Environment({"NOTIFYQ_EMAIL_PROVIDERS": LONGEST, "NOTIFYQ_SMS_PROVIDERS": LONGEST}))
    assert config.provider_chains[Channel.SMS] == (LONGEST,)


def test_name__of_one_that_left_its_chain__may_differ_in_case_alone():
    variables = {"NOTIFYQ_SMS_PROVIDERS": "twilio:EU", "NOTIFYQ_RECEIPT_PROVIDERS": "twilio:eu"}
    assert {"twilio:EU", "twilio:eu"} <= set(Config.load(Environment(variables)).receipt_providers)


def test_name__as_long_as_may_be__fits_every_column_that_holds_one():
    columns = [
        field
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, CharField) and field.name.split("_")[-1] == "provider"
    ]
    assert len(columns) >= 9
    assert {(str(field), field.max_length) for field in columns} == {(str(f), NAME_LENGTH_MOST) for f in columns}


@pytest.mark.parametrize("target", [":Class", ".relative:Class", "no.such.module:Class", "a b:Class"])
def test_adapter__that_cannot_be_loaded__is_one_line(target):
    settings = Environment({"NOTIFYQ_EXTRA_PROVIDERS": f"pigeon={target}", "NOTIFYQ_SMS_PROVIDERS": "pigeon"})
    with pytest.raises(ConfigurationError, match=r"^NOTIFYQ_SMS_PROVIDERS names 'pigeon': the adapter of"):
        chains.build(Config.load(settings).provider_chains, settings)
