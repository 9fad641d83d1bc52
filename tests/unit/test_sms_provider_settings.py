"""The settings of the text message providers: what they may be, and that a wrong one is named in one line."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers import registry
from notifications.providers.base import DuplicateHarm, FoundBy
from notifyq.env import Environment
from tests.support.rsa_key import rsa_pem

SID, KEY_SID, SERVICE = "AC" + "0" * 32, "SK" + "a" * 32, "MG" + "f" * 32
APPLICATION = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
GIVEN = {
    "twilio": {"TWILIO_ACCOUNT_SID": SID, "TWILIO_AUTH_TOKEN": "s3same"},
    "vonage": {"VONAGE_API_KEY": "abcd1234", "VONAGE_API_SECRET": "s3same"},
    "bulksms": {"BULKSMS_TOKEN_ID": "id-01-B", "BULKSMS_TOKEN_SECRET": "s3same!#"},
    "kudisms": {"KUDISMS_TOKEN": "s3same", "KUDISMS_ACCEPT_UNPROVEN": "true"},
}
APPLICATION_PAIR = {"VONAGE_APPLICATION_ID": APPLICATION, "VONAGE_PRIVATE_KEY": rsa_pem()}
RECEIPTS = {"RECEIPTS_URL": "https://notify.example.com"}


def build(name, *parts, **more):
    variables = {"SMS_FROM": "+14155550100"} | {key: value for part in (*parts, more) for key, value in part.items()}
    return registry.build(name, Environment({f"NOTIFYQ_{key}": value for key, value in variables.items() if value}))


@pytest.mark.parametrize("kind", GIVEN)
def test_sms_provider__needed_settings_only__is_built_for_text_messages(kind):
    provider = build(kind, GIVEN[kind])

    assert (provider.name, provider.channels) == (kind, {Channel.SMS})
    assert provider.capabilities.duplicate_harm is DuplicateHarm.PAID
    assert not provider.capabilities.receipts_carry_key


@pytest.mark.parametrize(
    ("kind", "found_by", "dedupes"),
    [("twilio", FoundBy.MATCH, False), ("vonage", FoundBy.KEY, False), ("bulksms", FoundBy.KEY, True)],
)
def test_sms_provider__what_the_engine_may_rely_on__is_declared(kind, found_by, dedupes):
    capabilities = build(kind, GIVEN[kind], RECEIPTS).capabilities

    assert (capabilities.lookup.by, capabilities.dedupes) == (found_by, dedupes)
    assert capabilities.lookup == registry.usual_lookup(kind)
    assert capabilities.receipts_carry_key
    assert 0 < capabilities.lookup.settle_seconds < capabilities.lookup.horizon_seconds <= 86_400


def test_bulksms__window__is_shorter_than_the_vendors_twelve_hours():
    assert build("bulksms", GIVEN["bulksms"]).capabilities.dedupe_window_seconds < 12 * 3600


def test_kudisms__has_nothing__that_could_tell_after_a_lost_answer():
    capabilities = build("kudisms", GIVEN["kudisms"], RECEIPTS).capabilities

    assert (capabilities.lookup, capabilities.dedupes, capabilities.receipts_carry_key) == (None, False, False)


def test_vonage__application_only__cannot_be_asked():
    assert build("vonage", APPLICATION_PAIR).capabilities.lookup is None
    assert build("vonage", APPLICATION_PAIR, GIVEN["vonage"]).capabilities.lookup is not None


@pytest.mark.parametrize("as_file", [True, False])
def test_vonage__private_key__is_a_pem_or_the_path_of_one(as_file, tmp_path):
    path = tmp_path / "private.key"
    path.write_text(rsa_pem())
    key = str(path) if as_file else rsa_pem().replace("\n", "\\n")

    assert build("vonage", APPLICATION_PAIR, VONAGE_PRIVATE_KEY=key)


def test_twilio__labelled_with_an_api_key__reads_its_own_settings():
    variables = {"TWILIO_EU_ACCOUNT_SID": SID, "TWILIO_EU_API_KEY": KEY_SID, "TWILIO_EU_API_SECRET": "s3same"}

    assert build("twilio:eu", variables, TWILIO_EU_FROM=SERVICE, SMS_FROM="").name == "twilio:eu"


@pytest.mark.parametrize("value", ["+14155550100", "12345", "88888888", "Shop", "My Shop 24", "A-B.c_d+e&f"])
def test_sender__that_a_text_message_can_have__is_taken(value):
    assert build("twilio", GIVEN["twilio"], SMS_FROM=value)


@pytest.mark.parametrize("kind", ["vonage", "bulksms", "kudisms"])
def test_sender__number_without_a_plus__is_taken_where_the_vendor_wants_none(kind):
    assert build(kind, GIVEN[kind], SMS_FROM="14155550100")


def test_bulksms__no_sender__leaves_it_to_the_account():
    assert build("bulksms", GIVEN["bulksms"], SMS_FROM="")


EC_PEM = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
WRONG = [
    ("twilio", {"TWILIO_ACCOUNT_SID": ""}, "NOTIFYQ_TWILIO_ACCOUNT_SID is not set"),
    ("twilio", {"TWILIO_ACCOUNT_SID": KEY_SID}, "NOTIFYQ_TWILIO_ACCOUNT_SID must be AC"),
    ("twilio", {"TWILIO_AUTH_TOKEN": ""}, "NOTIFYQ_TWILIO_AUTH_TOKEN is not set"),
    ("twilio", {"TWILIO_AUTH_TOKEN": "s3same\u00e9"}, "NOTIFYQ_TWILIO_AUTH_TOKEN must be printable ASCII"),
    ("twilio", {"TWILIO_API_KEY": KEY_SID}, "NOTIFYQ_TWILIO_API_SECRET is not set"),
    ("twilio", {"TWILIO_API_KEY": SID, "TWILIO_API_SECRET": "s3same"}, "NOTIFYQ_TWILIO_API_KEY must be SK"),
    ("twilio", {"TWILIO_URL": "ftp://x"}, "NOTIFYQ_TWILIO_URL must be a URL"),
    ("twilio", {"SMS_FROM": ""}, "NOTIFYQ_TWILIO_FROM is not set, nor is NOTIFYQ_SMS_FROM"),
    ("twilio", {"SMS_FROM": "a name that is long"}, "NOTIFYQ_SMS_FROM must be a phone number"),
    ("twilio", {"TWILIO_FROM": "a\u0007b"}, "NOTIFYQ_TWILIO_FROM must be a phone number"),
    ("vonage", {"VONAGE_FROM": SERVICE}, "NOTIFYQ_VONAGE_FROM must be a phone number"),
    ("twilio", {"SMS_FROM": "+1555"}, "NOTIFYQ_SMS_FROM must be a phone number"),
    ("twilio", {"SMS_FROM": "14155550100"}, "NOTIFYQ_SMS_FROM must be a phone number such as +14155550100"),
    ("twilio", {"SMS_FROM": "+12345678901234567"}, "NOTIFYQ_SMS_FROM must be a phone number"),
    ("twilio", {"SMS_FROM": "12"}, "NOTIFYQ_SMS_FROM must be a phone number"),
    ("twilio", {"TWILIO_FROM": "MG" + "f" * 31}, "NOTIFYQ_TWILIO_FROM must be a phone number"),
    ("vonage", {"SMS_FROM": "4155550100"}, "NOTIFYQ_SMS_FROM must be a phone number"),
    ("bulksms", {"BULKSMS_FROM": "+1 415 555 0100"}, "NOTIFYQ_BULKSMS_FROM must be a phone number"),
    ("kudisms", {"SMS_FROM": "+1555"}, "NOTIFYQ_SMS_FROM must be a phone number"),
    (
        "twilio",
        {"RECEIPTS_URL": "http://notify.example.com"},
        "NOTIFYQ_RECEIPTS_URL must be https://, a host",
    ),
    ("twilio", {"RECEIPTS_URL": "https://notify.example.com/?a=b"}, "NOTIFYQ_RECEIPTS_URL must be https://, a host"),
    ("vonage", {"VONAGE_API_SECRET": ""}, "NOTIFYQ_VONAGE_API_SECRET is not set; it is needed beside"),
    ("vonage", {"VONAGE_API_KEY": "", "VONAGE_API_SECRET": ""}, "NOTIFYQ_VONAGE_APPLICATION_ID is not set; give it"),
    ("vonage", {"VONAGE_APPLICATION_ID": APPLICATION}, "NOTIFYQ_VONAGE_PRIVATE_KEY is not set; it is needed beside"),
    ("vonage", {"VONAGE_PRIVATE_KEY": rsa_pem()}, "NOTIFYQ_VONAGE_APPLICATION_ID is not set; it is needed beside"),
    ("vonage", {**APPLICATION_PAIR, "VONAGE_APPLICATION_ID": "mine"}, "NOTIFYQ_VONAGE_APPLICATION_ID must be a UUID"),
    (
        "vonage",
        {**APPLICATION_PAIR, "VONAGE_PRIVATE_KEY": "/no/such"},
        "NOTIFYQ_VONAGE_PRIVATE_KEY must be a private key",
    ),
    ("vonage", {**APPLICATION_PAIR, "VONAGE_PRIVATE_KEY": EC_PEM}, "NOTIFYQ_VONAGE_PRIVATE_KEY must be an RSA"),
    (
        "vonage",
        {**APPLICATION_PAIR, "VONAGE_PRIVATE_KEY": "-----BEGIN PRIVATE KEY-----\ns3same"},
        "NOTIFYQ_VONAGE_PRIVATE_KEY must be an RSA",
    ),
    ("bulksms", {"BULKSMS_TOKEN_ID": ""}, "NOTIFYQ_BULKSMS_TOKEN_ID is not set"),
    ("bulksms", {"BULKSMS_TOKEN_SECRET": ""}, "NOTIFYQ_BULKSMS_TOKEN_SECRET is not set"),
    ("kudisms", {"KUDISMS_TOKEN": ""}, "NOTIFYQ_KUDISMS_TOKEN is not set"),
    ("kudisms", {"KUDISMS_ACCEPT_UNPROVEN": ""}, "NOTIFYQ_KUDISMS_ACCEPT_UNPROVEN must be true"),
    ("kudisms", {"KUDISMS_ACCEPT_UNPROVEN": "perhaps"}, "NOTIFYQ_KUDISMS_ACCEPT_UNPROVEN must be true or false"),
]


@pytest.mark.parametrize(("kind", "changes", "line"), WRONG, ids=range(len(WRONG)))
def test_sms_provider__wrong_setting__is_one_line_that_names_it(kind, changes, line):
    with pytest.raises(ConfigurationError) as wrong:
        build(kind, GIVEN[kind], changes)

    assert str(wrong.value).startswith(line)
    assert "\n" not in str(wrong.value)
    assert "s3same" not in str(wrong.value)


@pytest.mark.parametrize("name", ["twilio:", "vonage:a b", "bulksms:é", "kudisms:a.b"])
def test_sms_provider__label_that_no_variable_can_have__is_named(name):
    with pytest.raises(ConfigurationError, match=name):
        build(name, GIVEN[name.partition(":")[0]])
