"""The commands for clients and keys."""

import json

import pytest
from django.core.management import CommandError, call_command, load_command_class

from notifications import accounts
from notifications.models import ApiKey, Client
from tests.support.api import Caller
from tests.support.factories import ApiKeyFactory, ClientFactory

pytestmark = pytest.mark.django_db


def run(capsys, *args):
    call_command(*args)
    return capsys.readouterr().out


def test_create_client__new_name__prints_one_json_line_with_a_key_that_works(capsys):
    out = run(capsys, "create_client", "shop")

    assert out.count("\n") == 1
    shown = json.loads(out)
    assert list(shown) == ["clientId", "name", "apiKey", "scopes"]
    assert (shown["name"], shown["scopes"]) == ("shop", ["send", "read"])
    assert str(accounts.authenticate(shown["apiKey"]).client_id) == shown["clientId"]


def test_create_client__scopes__are_the_ones_asked_for(capsys):
    out = run(capsys, "create_client", "console", "--scope", "operate", "--scope", "read")

    assert json.loads(out)["scopes"] == ["operate", "read"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["shop"], "taken"),
        ([" shop "], "taken"),
        ([""], "name"),
        (["x" * 101], "name"),
        (["a\nb"], "name"),
        (["other", "--smtp-url", "http://mail.example.com"], "smtp_url"),
        (["other", "--smtp-url", "smtp://user:pass-9f3@:25"], "smtp_url"),
        (["other", "--email-from", "nobody"], "email_from"),
        (["other", "--scope", "all"], "invalid choice"),
    ],
)
def test_create_client__wrong__is_one_clear_line_and_leaves_nothing(args, message):
    ClientFactory(name="shop")

    with pytest.raises(CommandError, match=message) as caught:
        call_command("create_client", *args)

    assert "\n" not in str(caught.value)
    assert "9f3" not in str(caught.value)
    assert Client.objects.count() == 1
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("by", ["name", "id"])
def test_create_key__known_client__prints_a_key_that_works(capsys, by):
    client = ClientFactory()

    out = run(capsys, "create_key", str(getattr(client, by)), "--scope", "read", "--expires-in-days", "1")

    shown = json.loads(out)
    assert (shown["scopes"], shown["name"]) == (["read"], client.name)
    assert shown["expiresAt"].endswith("Z")
    assert accounts.authenticate(shown["apiKey"]).client == client


@pytest.mark.parametrize(
    "args", [["nobody"], ["01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"], ["shop", "--expires-in-days", "0"]]
)
def test_create_key__wrong__is_refused(args):
    ClientFactory(name="shop")

    with pytest.raises(CommandError):
        call_command("create_key", *args)

    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("strip", ["", "nq_"])
def test_revoke_key__known_prefix__refuses_the_key(capsys, strip):
    caller = Caller()

    run(capsys, "revoke_key", caller.key.prefix.removeprefix(strip))

    assert caller.get().status_code == 401


def test_revoke_key__repeat__keeps_the_first_time(capsys):
    key = ApiKeyFactory()
    run(capsys, "revoke_key", key.prefix)
    key.refresh_from_db()
    first = key.revoked_at

    run(capsys, "revoke_key", key.prefix)

    key.refresh_from_db()
    assert key.revoked_at == first


def test_revoke_key__unknown__is_one_clear_line():
    with pytest.raises(CommandError, match="no key"):
        call_command("revoke_key", "nq_nothing")


def test_list_keys__several__shows_state_but_no_secret(capsys):
    key = ApiKeyFactory()
    accounts.revoke_key(ApiKeyFactory().prefix)

    out = run(capsys, "list_keys")

    assert [line.split()[3] for line in out.splitlines()[1:]] == ["active", "revoked"]
    assert key.prefix in out
    assert key.secret not in out


def test_set_sender__changes_what_is_named__and_nothing_else(capsys):
    client = ClientFactory(email_from="a@example.com")

    run(capsys, "set_sender", client.name, "--smtp-url", "smtp://mail.example.com:25")
    client.refresh_from_db()
    assert client.email_from == "a@example.com"
    assert client.smtp_url_encrypted

    run(capsys, "set_sender", client.name, "--smtp-url", "")
    client.refresh_from_db()
    assert client.smtp_url_encrypted == ""


@pytest.mark.parametrize("name", ["create_client", "create_key", "list_keys", "revoke_key", "set_sender"])
def test_help__each_command__teaches_by_example(name):
    text = load_command_class("notifications", name).create_parser("manage.py", name).format_help()

    assert f"examples:\n  manage.py {name}" in text or "\n  manage.py list_keys" in text
    assert len(text.partition("options:")[0]) > 150


def test_set_sender__nothing_named__is_refused():
    with pytest.raises(CommandError, match="nothing to change"):
        call_command("set_sender", ClientFactory().name)
