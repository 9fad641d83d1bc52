"""The settings of the adapters that hand e-mail to a vendor: what is read, and that what is wrong is one line."""

import re
import sys

import pytest

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifications.providers.base import DuplicateHarm
from notifications.providers.registry import build, usual_lookup
from notifyq.env import Config, Environment
from tests.support.pages import blocks

FROM = "Acme <shop@acme.example>"
NEEDED = {
    "sendgrid": {"API_KEY": "SG.secret"},
    "mailgun": {"API_KEY": "key-secret", "DOMAIN": "mg.acme.example"},
    "ses": {"REGION": "eu-west-1", "ACCESS_KEY_ID": "AKIDsecret", "SECRET_ACCESS_KEY": "secret/+="},
    "resend": {"API_KEY": "re_secret"},
}


def environment(kind, label="", **changed):
    """The needed settings; None takes one away."""
    own = {f"NOTIFYQ_{kind.upper()}{label}_{name}": value for name, value in (NEEDED[kind] | changed).items()}
    return Environment({"NOTIFYQ_EMAIL_FROM": FROM} | {name: value for name, value in own.items() if value is not None})


@pytest.mark.parametrize(
    ("kind", "dedupes", "can_be_asked"),
    [("sendgrid", False, True), ("mailgun", False, True), ("ses", False, False), ("resend", True, False)],
)
def test_settings__the_needed_ones__are_enough(kind, dedupes, can_be_asked):
    provider = build(kind, environment(kind))

    assert (provider.name, provider.kind, list(provider.channels)) == (kind, kind, [Channel.EMAIL])
    assert (provider.capabilities.dedupes, bool(provider.capabilities.lookup)) == (dedupes, can_be_asked)
    assert provider.capabilities.receipts_carry_key
    assert provider.capabilities.duplicate_harm is DuplicateHarm.VISIBLE


def test_dedupe_window__of_resend__is_a_day():
    assert build("resend", environment("resend")).capabilities.dedupe_window_seconds == 86_400


@pytest.mark.parametrize("kind", NEEDED)
def test_settings__of_a_labelled_instance__have_names_of_their_own(kind):
    assert build(f"{kind}:eu-1", environment(kind, "_EU_1")).name == f"{kind}:eu-1"
    with pytest.raises(ConfigurationError, match=f"NOTIFYQ_{kind.upper()}_EU_1_"):
        build(f"{kind}:eu-1", environment(kind))


@pytest.mark.parametrize("kind", NEEDED)
def test_settings__label_with_other_characters__is_refused(kind):
    with pytest.raises(ConfigurationError, match="the label of provider"):
        build(f"{kind}:a b", environment(kind))


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("sendgrid", {"API_KEY": None}),
        ("sendgrid", {"API_KEY": "SG.sec ret"}),
        ("sendgrid", {"API_KEY": "SG.sécret"}),
        ("sendgrid", {"URL": "ftp://x"}),
        ("sendgrid", {"LOOKUP": "perhaps"}),
        ("mailgun", {"API_KEY": None}),
        ("mailgun", {"DOMAIN": None}),
        ("mailgun", {"DOMAIN": "mg.acme.example/messages"}),
        ("mailgun", {"URL": "nowhere"}),
        ("ses", {"REGION": None}),
        ("ses", {"REGION": "eu-west-1.evil.example/"}),
        ("ses", {"ACCESS_KEY_ID": None}),
        ("ses", {"SECRET_ACCESS_KEY": None}),
        ("ses", {"SECRET_ACCESS_KEY": "sec\nret"}),
        ("resend", {"API_KEY": None}),
        ("resend", {"API_KEY": "re\r\nX: secret"}),
    ],
)
def test_settings__missing_or_wrong__are_named_in_one_line_without_a_secret(kind, changed):
    with pytest.raises(ConfigurationError) as wrong:
        build(kind, environment(kind, **changed))

    assert f"NOTIFYQ_{kind.upper()}_{next(iter(changed))}" in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert not any(part in str(wrong.value) for part in ("ret", "evil", "AKID"))


@pytest.mark.parametrize("kind", NEEDED)
def test_sender__missing__is_named(kind):
    settings = {k: v for k, v in environment(kind)._env.ENVIRON.items() if k != "NOTIFYQ_EMAIL_FROM"}

    with pytest.raises(ConfigurationError, match="NOTIFYQ_EMAIL_FROM"):
        build(kind, Environment(settings))


def test_chain__of_the_page_on_providers__is_built_in_its_order():
    (named,) = re.findall(r"export (NOTIFYQ_EMAIL_PROVIDERS)=(\S+)", blocks("providers", "sh")[0])
    variables = {k: v for kind in named[1].split(",") for k, v in environment(kind)._env.ENVIRON.items()}
    settings = Environment(variables | dict([named]))

    built = chains.build(Config.load(settings).provider_chains, settings)

    assert [p.kind for p in built[Channel.EMAIL].providers] == ["sendgrid", "mailgun", "ses"]
    chains.close(built)


@pytest.mark.parametrize("kind", ["sendgrid", "mailgun"])
def test_look_up__switched_off__is_not_relied_upon(kind):
    capabilities = build(kind, environment(kind, LOOKUP="false")).capabilities

    assert capabilities.lookup is None
    assert capabilities.receipts_carry_key
    assert usual_lookup(kind) == build(kind, environment(kind)).capabilities.lookup


def test_ses__without_boto3__says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(ConfigurationError, match="extra ses") as wrong:
        build("ses", environment("ses"))
    assert "\n" not in str(wrong.value)


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    """Nothing for boto3 to find, and nobody on the network to ask."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    return monkeypatch


KEYLESS = {"ACCESS_KEY_ID": None, "SECRET_ACCESS_KEY": None}


def test_ses__no_key_anywhere__is_refused_at_the_start(no_credentials):
    with pytest.raises(ConfigurationError, match="boto3 finds no credentials"):
        build("ses", environment("ses", **KEYLESS))


def test_ses__profile_that_is_not_there__is_refused_at_the_start(no_credentials):
    no_credentials.setenv("AWS_PROFILE", "nobody")

    with pytest.raises(ConfigurationError, match="ProfileNotFound"):
        build("ses", environment("ses", **KEYLESS))


def test_ses__no_key_in_the_settings__takes_what_boto3_finds(no_credentials):
    no_credentials.setenv("AWS_ACCESS_KEY_ID", "AKID")
    no_credentials.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    assert build("ses", environment("ses", **KEYLESS)).name == "ses"
