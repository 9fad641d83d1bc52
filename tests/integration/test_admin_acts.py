"""What the console does beside showing: keys and rules of the rate limits. Pauses have tests of their own."""

import json
import logging
import re
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse

from notifications import accounts
from notifications.models import ApiKey
from notifyq.runtime.logs import JsonFormatter
from ratelimits.models import RateLimitRule
from tests.support.factories import ApiKeyFactory, ClientFactory

pytestmark = pytest.mark.django_db

KEYS, RULES = "admin:notifications_apikey", "admin:ratelimits_ratelimitrule"


@pytest.fixture
def console(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


def key_form(client):
    """What the form of a new key sends."""
    return {"client": client.pk, "scopes": ["send"], "reason": "why", "form_id": str(uuid4())}


@pytest.fixture
def reader(client, django_user_model):
    """May look at everything and do nothing."""
    user = django_user_model.objects.create(username="reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(user)
    return client


@pytest.fixture
def lines(caplog):
    """The log lines so far, as they are written."""
    caplog.set_level(logging.INFO)
    return lambda: [json.loads(JsonFormatter().format(record)) for record in caplog.records]


def acts(console):
    return sorted(LogEntry.objects.values_list("user__username", "action_flag"))


def test_key__made_in_the_console__works_and_is_shown_on_that_page_alone(console, lines):
    shop = ClientFactory()

    page = console.post(
        reverse(f"{KEYS}_add"),
        key_form(shop) | {"scopes": ["send", "operate"], "expires_in_days": "30", "reason": "the new app"},
    )

    assert page.status_code == 200
    secret = page.context["secret"]
    assert secret in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    key = accounts.authenticate(secret)
    assert (key.client, key.scopes) == (shop, ["send", "operate"])
    assert key.expires_at is not None
    random_part = secret.split("_", 2)[2]
    for later in (reverse(f"{KEYS}_changelist"), reverse(f"{KEYS}_change", args=[key.pk])):
        assert random_part not in console.get(later).content.decode()
    assert random_part not in str(list(LogEntry.objects.values()))
    [line] = [entry for entry in lines() if entry["event"] == "key_created"]
    assert (line["prefix"], line["by"]) == (key.prefix, "ops")
    assert random_part not in json.dumps(lines())
    assert acts(console) == [("ops", 1)]
    assert LogEntry.objects.get().change_message == "made with send, operate, for 30 days: the new app"


@pytest.mark.parametrize("values", [{}, {"scopes": ["everything"]}, {"scopes": ["send"], "expires_in_days": "0"},
                                    {"scopes": ["send"], "reason": " "},
                                    {"scopes": ["send"], "form_id": ""},
                                    {"scopes": ["send"], "form_id": "none"}])  # fmt: skip
def test_key__wrong_values__are_told_and_no_key_is_made(console, values):
    page = console.post(reverse(f"{KEYS}_add"), key_form(ClientFactory()) | {"scopes": []} | values)

    assert page.status_code == 200
    assert page.context["adminform"].errors
    assert not ApiKey.objects.exists()
    if "form_id" in values:
        assert "Open the form anew" in page.content.decode()


def test_key__form_sent_twice__makes_one_and_says_so(console):
    page = console.get(reverse(f"{KEYS}_add")).content.decode()
    form_id = re.search(r'name="form_id" value="([0-9a-f-]{36})"', page)
    assert form_id is not None
    values = key_form(ClientFactory()) | {"form_id": form_id[1]}

    first = console.post(reverse(f"{KEYS}_add"), values)
    second = console.post(reverse(f"{KEYS}_add"), values, follow=True)

    key = ApiKey.objects.get()
    assert first.context["key"] == key
    assert f"{key.prefix} was made by this form already" in second.content.decode()
    assert LogEntry.objects.count() == 1


def test_key__revoked_in_the_console__is_refused_from_then_on(console, lines):
    key = ApiKeyFactory()
    action = {"action": "revoke", "_selected_action": [str(key.pk)], "seen": f"{key.pk}:None"}
    action |= {"confirmed": "yes", "reason": "it was in a log"}

    assert console.post(reverse(f"{KEYS}_changelist"), action).status_code == 302

    with pytest.raises(accounts.KeyRefused):
        accounts.authenticate(key.secret)
    assert [entry["by"] for entry in lines() if entry["event"] == "key_revoked"] == ["ops"]
    assert acts(console) == [("ops", 2)]
    told = console.get(reverse(f"{KEYS}_changelist")).content.decode()
    assert f">{key.prefix} is revoked.<" in told  # as it is written
    console.post(reverse(f"{KEYS}_changelist"), action)
    assert acts(console) == [("ops", 2)]  # it was revoked already


def test_key__without_the_permission__is_neither_made_nor_revoked(reader):
    key = ApiKeyFactory()

    assert reader.post(reverse(f"{KEYS}_add"), {"client": key.client.pk, "scopes": ["send"]}).status_code == 403
    revoke = {"action": "revoke", "_selected_action": [str(key.pk)]}
    assert reader.post(reverse(f"{KEYS}_changelist"), revoke).status_code == 403

    assert ApiKey.objects.get().revoked_at is None


def rule(**changes):
    return {"channel": "", "client": "", "limit_count": "5", "window_seconds": "60", "reason": "too many"} | changes


def test_rule__added_changed_and_deleted__is_stored_and_recorded(console, lines):
    shop = ClientFactory(name="Shop")
    added = console.post(reverse(f"{RULES}_add"), rule(channel="SMS", client=shop.pk))
    made = RateLimitRule.objects.get()
    assert added.status_code == 302
    assert (made.channel, made.client_id, made.limit_count, made.window_seconds) == ("SMS", shop.pk, 5, 60)
    page = console.get(reverse(f"{RULES}_change", args=[made.pk])).content.decode()
    assert f'<option value="{shop.pk}" selected>Shop</option>' in page

    wanted = rule(channel="SMS", limit_count="", no_limit="on", reason="they are testing", seen=made.stand)
    changed = console.post(reverse(f"{RULES}_change", args=[made.pk]), wanted)
    assert changed.status_code == 302
    assert RateLimitRule.objects.values_list("pk", "client_id", "limit_count").get() == (made.pk, None, None)

    gone = reverse(f"{RULES}_delete", args=[made.pk])
    asked = console.get(gone).content.decode()
    assert "Reason, for the record" in asked
    assert console.post(gone, {"post": "yes"}).status_code == 200  # and asks
    assert RateLimitRule.objects.exists()
    made.refresh_from_db()
    seen = {"seen": f"{made.pk}:{made.stand}", "confirmed": "yes", "reason": "the test is over"}
    assert console.post(gone, seen).status_code == 302
    assert not RateLimitRule.objects.exists()
    assert acts(console) == [("ops", 1), ("ops", 2), ("ops", 3)]
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        "SMS, Shop: 5 in 60 s. too many",
        "SMS, Shop: 5 in 60 s → SMS, all clients together: no limit. they are testing",
        "SMS, all clients together: no limit. the test is over",
    ]
    told = [(e["what"], e["by"]) for e in lines() if e["event"] == "rate_limit_rule_changed"]
    assert told == [("stored", "ops"), ("stored", "ops"), ("removed", "ops")]


def test_rule__list__names_channel_client_and_limit(console):
    shop = ClientFactory(name="Shop")
    RateLimitRule.objects.create(client_id=shop.pk, limit_count=None)

    page = console.get(reverse(f"{RULES}_changelist")).content.decode()

    for expected in ("every channel", "Shop", "none"):
        assert expected in page


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"channel": "FAX"}, "channel"),
        ({"client": "00000000-0000-0000-0000-000000000000"}, "client"),
        ({"limit_count": "0"}, "limit_count"),
        ({"limit_count": "-1"}, "limit_count"),
        ({"limit_count": ""}, "limit_count"),
        ({"limit_count": "5", "no_limit": "on"}, "limit_count"),
        ({"reason": ""}, "reason"),
        ({"window_seconds": "0"}, "window_seconds"),
        ({"window_seconds": ""}, "window_seconds"),
        ({"window_seconds": "99999999999"}, "window_seconds"),
        ({"channel": "EMAIL"}, "__all__"),
    ],
)
def test_rule__wrong_values__are_told_at_their_field(console, changes, field):
    RateLimitRule.objects.create(channel="EMAIL", limit_count=1)

    page = console.post(reverse(f"{RULES}_add"), rule(**changes))

    assert page.status_code == 200
    assert list(page.context["adminform"].form.errors) == [field]
    assert RateLimitRule.objects.count() == 1


def test_rule__without_the_permission__is_only_shown(reader):
    made = RateLimitRule.objects.create(channel="EMAIL", limit_count=1)

    assert reader.get(reverse(f"{RULES}_change", args=[made.pk])).status_code == 200
    assert reader.post(reverse(f"{RULES}_change", args=[made.pk]), rule()).status_code == 403
    assert reader.post(reverse(f"{RULES}_add"), rule()).status_code == 403
    assert reader.post(reverse(f"{RULES}_delete", args=[made.pk]), {"post": "yes"}).status_code == 403
    assert RateLimitRule.objects.values_list("channel", "limit_count").get() == ("EMAIL", 1)
