"""Actions of the stock lists: they ask first, act once, and are refused where they are not allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from notifications import accounts, services
from notifications.models import ApiKey, Pause, ProviderHealth
from notifyq.console import asking
from notifyq.roles import Role
from ratelimits.models import RateLimitRule
from tests.support.console import fields_of, person, words_of
from tests.support.factories import ApiKeyFactory, ClientFactory
from tests.support.webhook_rows import an_endpoint
from webhooks.models import WebhookEndpoint
from webhooks.services import enable_endpoint

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("chains")]


@dataclass(frozen=True)
class Case:
    """
    Attributes:
        undone: how many rows the action has not been done to yet.
        values: what it asks for beside the reason.
    """

    path: str
    action: str
    begin: Callable[[], list[Any]]
    undone: Callable[[], int]
    role: Role = Role.OPERATOR
    values: dict[str, str] = field(default_factory=dict)


def pauses() -> list[Any]:
    return [services.pause("CHANNEL", channel, by="ada")[0] for channel in ("SMS", "EMAIL")]


def breakers(*, tripped: bool) -> list[Any]:
    for channel in ("SMS", "EMAIL"):
        services.trip_breaker(channel, "a", by="ada")
        if not tripped:
            services.reset_breaker(channel, "a", by="ada")
    return list(ProviderHealth.objects.all())


def limits() -> list[Any]:
    return [RateLimitRule.objects.create(channel=channel, limit_count=5) for channel in ("SMS", "EMAIL")]


HEALTH = "notifications/providerhealth"
CASES = {
    "resume": Case(
        "notifications/pause", "resume_sending", pauses, lambda: Pause.objects.filter(ended_at=None).count()
    ),
    "trip": Case(
        HEALTH, "trip", lambda: breakers(tripped=False), lambda: ProviderHealth.objects.filter(tripped=False).count()
    ),
    "reset": Case(
        HEALTH, "reset", lambda: breakers(tripped=True), lambda: ProviderHealth.objects.filter(tripped=True).count()
    ),
    "enable": Case(
        "webhooks/webhookendpoint",
        "enable",
        lambda: [an_endpoint(enabled=False) for _ in range(2)],
        lambda: WebhookEndpoint.objects.filter(enabled=False).count(),
    ),
    "disable": Case(
        "webhooks/webhookendpoint",
        "disable",
        lambda: [an_endpoint() for _ in range(2)],
        lambda: WebhookEndpoint.objects.filter(enabled=True).count(),
    ),
    "remove": Case("ratelimits/ratelimitrule", "remove", limits, RateLimitRule.objects.count),
    "change": Case(
        "ratelimits/ratelimitrule",
        "change_terms",
        limits,
        lambda: RateLimitRule.objects.filter(limit_count=5).count(),
        values={"limit_count": "7"},
    ),
    "revoke": Case(
        "notifications/apikey",
        "revoke",
        lambda: ApiKeyFactory.create_batch(2),
        lambda: ApiKey.objects.filter(revoked_at=None).count(),
        Role.ADMINISTRATOR,
    ),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def form(case: Case, rows: list[Any], **more: Any) -> dict[str, Any]:
    """As the list sends it."""
    ticked = {"action": case.action, "_selected_action": [str(row.pk) for row in rows]}
    return {**ticked, "index": "0", **case.values, "look": "yes", **more}


def post(browser: Client, case: Case, fields: dict[str, Any]) -> Any:
    return browser.post(f"/admin/{case.path}/", fields, follow=True)


def shown_to(browser: Client, case: Case, rows: list[Any], **more: Any) -> dict[str, Any]:
    """The form of the page that asks, filled in."""
    page = post(browser, case, form(case, rows)).content.decode()
    seen = re.findall(r'name="seen" value="([^"]*)"', page)
    assert len(seen) == len(rows)
    looked = {"looked": urlencode(case.values | {"no_limit": "", "window_seconds": ""})} if case.values else {}
    fields = form(case, rows, seen=seen, confirmed="yes", reason="the outage is over", **looked, **more)
    return {name: value for name, value in fields.items() if name not in ("index", "look")}


@EACH
def test_action__ticked__asks_for_a_reason_and_names_what_is_meant(case: Case) -> None:
    rows = case.begin()

    page = words_of(post(person(case.role), case, form(case, rows)).content)

    assert "Reason, for the record" in page
    assert all(f"<li>{row}" in page for row in rows)
    assert case.undone() == 2


@EACH
def test_action__confirmed_and_sent_again__is_done_once_and_recorded(case: Case) -> None:
    browser = person(case.role)
    fields = shown_to(browser, case, case.begin())

    post(browser, case, fields)
    again = post(browser, case, fields)

    assert case.undone() == 0
    entries = LogEntry.objects.values_list("user__username", "change_message")
    assert len(entries) == 2
    assert all(user == case.role.value and "the outage is over" in why for user, why in entries)
    assert "2 left alone: somebody has acted since you opened the page." in words_of(again.content)


QUICKER: dict[str, Callable[[Any], Any]] = {
    "resume": lambda row: services.resume(row.pk, by="grace"),
    "trip": lambda row: services.trip_breaker(row.channel, row.provider, by="grace"),
    "reset": lambda row: services.reset_breaker(row.channel, row.provider, by="grace"),
    "enable": lambda row: enable_endpoint(row.pk, enabled=True),
    "disable": lambda row: enable_endpoint(row.pk, enabled=False),
    "revoke": lambda row: accounts.revoke_key(row.prefix, by="grace"),
}


@pytest.mark.parametrize("name", QUICKER)
def test_action__somebody_is_quicker_between_look_and_act__is_recorded_and_told_for_the_other_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, unchanged = CASES[name], asking._unchanged

    def and_then(*args: Any) -> list[Any]:
        rows = unchanged(*args)
        QUICKER[name](rows[0])
        return rows

    browser = person(case.role)
    fields = shown_to(browser, case, case.begin())
    monkeypatch.setattr(asking, "_unchanged", and_then)

    page = post(browser, case, fields)

    assert case.undone() == 0
    assert LogEntry.objects.count() == 1
    assert [message.level_tag for message in page.context["messages"]].count("success") == 1


@EACH
def test_action__without_a_reason__asks_again(case: Case) -> None:
    browser = person(case.role)
    fields = shown_to(browser, case, case.begin())

    assert "Please give a reason." in words_of(post(browser, case, fields | {"reason": " "}).content)
    assert "at most 255 printable" in words_of(post(browser, case, fields | {"reason": "x" * 256}).content)
    assert case.undone() == 2


@EACH
def test_action__by_a_viewer_or_by_get__is_refused_or_does_nothing(case: Case) -> None:
    rows = case.begin()
    fields = shown_to(person(case.role), case, rows)

    assert person(Role.VIEWER).post(f"/admin/{case.path}/", fields).status_code == 403
    person(case.role, "ops").get(f"/admin/{case.path}/", {k: v for k, v in fields.items() if k == "action"})

    assert case.undone() == 2
    assert not LogEntry.objects.exists()


def test_trip__of_one_that_was_reset_meanwhile__leaves_it_alone() -> None:
    """A second click that comes late must not trip anew what a colleague has just reset."""
    case, browser = CASES["trip"], person(Role.OPERATOR)
    fields = shown_to(browser, case, case.begin())
    post(browser, case, fields)
    services.reset_breaker("SMS", "a", by="grace")

    post(browser, case, fields)

    assert list(ProviderHealth.objects.filter(tripped=True).values_list("channel", flat=True)) == ["EMAIL"]


def test_trip__of_one_that_is_tripped__says_so() -> None:
    case, browser = CASES["trip"], person(Role.OPERATOR)
    fields = shown_to(browser, case, breakers(tripped=True))

    assert "SMS a was tripped already." in words_of(post(browser, case, fields).content)
    assert not LogEntry.objects.exists()


def test_action__on_too_many__does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ASKED_MOST", 1)
    case = CASES["resume"]

    page = post(person(Role.OPERATOR), case, form(case, case.begin()))

    assert "Nothing was done: these are 2, and at most 1 can be done at once." in words_of(page.content)


@pytest.mark.parametrize("name", ["resume", "disable", "trip", "remove"])
def test_action__on_one_ticked__offers_all_that_match_and_names_them_before_it_is_done(name: str) -> None:
    case, browser = CASES[name], person(Role.OPERATOR)
    ticked, *others = case.begin()

    asked = words_of(post(browser, case, form(case, [ticked])).content)
    assert "All 2 that match instead…" in asked
    wanted = {name: value for name, value in form(case, [ticked], select_across="1").items() if name != "index"}
    page = browser.post(f"/admin/{case.path}/", wanted)
    assert all(f"<li>{row}" in words_of(page.content) for row in (ticked, *others))
    assert "that match instead" not in words_of(page.content)

    sent = fields_of(page.content, "data-asked")
    shown = re.findall(r'name="(_selected_action|seen)" value="([^"]*)"', page.content.decode())
    lists = {key: [value for found, value in shown if found == key] for key in ("_selected_action", "seen")}
    post(browser, case, sent | lists | {"confirmed": "yes", "reason": "all of them"})
    assert case.undone() == 0


def test_action__on_all_that_match__keeps_to_the_filter_of_the_list() -> None:
    """As the link "Select all" of the list sends it, of which the page shows only some."""
    browser = person(Role.OPERATOR)
    enabled, disabled = an_endpoint(), an_endpoint(enabled=False)
    wanted = form(CASES["disable"], [enabled], select_across="1")

    page = browser.post("/admin/webhooks/webhookendpoint/?enabled__exact=1", wanted)

    assert re.findall(r'name="_selected_action" value="([^"]*)"', page.content.decode()) == [str(enabled.pk)]
    assert str(disabled.pk) not in page.content.decode()


def test_action__on_many__is_told_in_one_line() -> None:
    case, browser = CASES["disable"], person(Role.OPERATOR)
    client = ClientFactory()
    rows = [an_endpoint(client=client) for _ in range(asking.TOLD_MOST + 1)]

    told = post(browser, case, shown_to(browser, case, rows)).context["messages"]

    assert [str(message) for message in told] == [f"{len(rows)} webhook endpoints are disabled."]
