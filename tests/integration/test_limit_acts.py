"""Acts on the rules of the rate limits: several at once, as they were shown, and each on record with what it said."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client as Browser
from django.urls import reverse

from notifications import services
from notifications.admin.rule_forms import RuleForm
from notifications.models import Client, Control, ControlAct
from notifyq.roles import Role
from ratelimits.models import RateLimitRule
from ratelimits.rules import NewTerms
from tests.support.console import person, words_of
from tests.support.factories import ClientFactory

pytestmark = pytest.mark.django_db
LIST = reverse("admin:ratelimits_ratelimitrule_changelist")


@pytest.fixture
def operator() -> Browser:
    return person(Role.OPERATOR, "bea")


@pytest.fixture
def shop() -> Client:
    return ClientFactory(name="Shop")


def a_rule(channel: str = "SMS", count: int | None = 5, client: Client | None = None) -> RateLimitRule:
    return RateLimitRule.objects.create(
        channel=channel, limit_count=count, window_seconds=60, client_id=client.pk if client else None
    )


def fields(rules: list[RateLimitRule], **typed: str) -> dict[str, Any]:
    """As the page sends them that has shown what comes of what is typed."""
    values = {"limit_count": "", "no_limit": "", "window_seconds": ""} | typed
    named = {
        "_selected_action": [str(rule.pk) for rule in rules],
        "seen": [f"{rule.pk}:{rule.stand}" for rule in rules],
    }
    return {"action": "change_terms", **named, **values, "looked": urlencode(values), "reason": "they asked for it"}


def recorded() -> list[tuple[str, ...]]:
    acts = ControlAct.objects.filter(control=Control.LIMIT).order_by("pk")
    return list(acts.values_list("action", "name", "before", "after", "actor", "reason"))


def terms() -> dict[str, str]:
    return {rule.control_name: rule.terms for rule in RateLimitRule.objects.all()}


def test_change__of_several__shows_what_comes_of_each_and_is_recorded(operator: Browser, shop: Client) -> None:
    rules = [a_rule(client=shop), a_rule("EMAIL"), a_rule("", None)]
    typed = fields(rules, window_seconds="3600")

    page = words_of(operator.post(LIST, typed | {"look": "yes"}).content)
    assert "SMS, Shop: 5 in 60 s → <b>5 in 3600 s</b>" in page
    assert "EMAIL, all clients together: 5 in 60 s → <b>5 in 3600 s</b>" in page
    assert 'every channel, all clients together: no limit <span class="nq-help">stays as it is</span>' in page
    assert 'value="Change 2 rate limit rules"' in page
    assert not recorded()

    for _ in range(2):
        operator.post(LIST, typed | {"confirmed": "yes"})
    assert terms() == {
        f"SMS, {shop.pk}": "5 in 3600 s",
        "EMAIL, all clients together": "5 in 3600 s",
        "every channel, all clients together": "no limit",
    }
    assert recorded() == [
        ("CHANGE", name, "5 in 60 s", "5 in 3600 s", "bea", "they asked for it")
        for name in (f"SMS, {shop.pk}", "EMAIL, all clients together")
    ]


def test_change__to_no_limit_and_to_a_number__is_done(operator: Browser) -> None:
    rule = a_rule()
    operator.post(LIST, fields([rule], no_limit="on") | {"confirmed": "yes"})
    rule.refresh_from_db()
    assert rule.terms == "no limit"

    operator.post(LIST, fields([rule], limit_count="9") | {"confirmed": "yes"})
    rule.refresh_from_db()
    assert rule.terms == "9 in 60 s"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({}, "Give a number of sends, a window, or both"),
        ({"limit_count": "0"}, "from 1 to 2147483647"),
        ({"limit_count": "-1"}, "from 1 to 2147483647"),
        ({"limit_count": "5", "no_limit": "on"}, "Leave it empty, or do not choose"),
        ({"window_seconds": "99999999999"}, "from 1 to 2147483647"),
    ],
)
def test_change__of_wrong_values__is_told_and_not_done(operator: Browser, typed: dict[str, str], told: str) -> None:
    page = operator.post(LIST, fields([a_rule()], **typed) | {"confirmed": "yes"})

    assert told in words_of(page.content)
    assert not recorded()


def test_change__of_values_that_were_not_looked_at__shows_them_first(operator: Browser) -> None:
    page = operator.post(LIST, fields([a_rule()], limit_count="9") | {"limit_count": "900", "confirmed": "yes"})

    assert "the page showed what comes of them: look again." in words_of(page.content)
    assert "5 in 60 s → <b>900 in 60 s</b>" in words_of(page.content)
    assert not recorded()


def test_change__of_what_was_changed_and_set_back_since__leaves_it_alone(operator: Browser) -> None:
    """A second click that comes late must not undo what a colleague has put right."""
    rule = a_rule()
    late = fields([rule], limit_count="9") | {"confirmed": "yes"}
    operator.post(LIST, late)
    rule.refresh_from_db()
    services.change_limits({rule.pk: rule.stand}, NewTerms(limit_count=5), reason="too many", by="ada")

    told = words_of(operator.post(LIST, late, follow=True).content)

    assert "1 left alone" in told
    assert list(terms().values()) == ["5 in 60 s"]


def test_change__of_all_that_match__keeps_to_the_filter(operator: Browser, shop: Client) -> None:
    ours, _, other = a_rule(client=shop), a_rule("EMAIL", client=shop), a_rule()
    page = operator.post(
        f"{LIST}?channel=SMS&whose=one", fields([ours], limit_count="9") | {"select_across": "1", "look": "yes"}
    )

    assert f'<li title="{ours.control_name}">SMS, Shop: 5 in 60 s → <b>9 in 60 s</b>' in words_of(page.content)
    assert "Change 1 rate limit rule" in words_of(page.content)
    assert str(other.pk) not in page.content.decode()


def test_change_and_removal__of_many__are_told_to_those_that_wait_once(django_capture_on_commit_callbacks) -> None:
    rules = [a_rule(), a_rule("EMAIL")]
    with django_capture_on_commit_callbacks() as after_change:
        services.change_limits({r.pk: r.stand for r in rules}, NewTerms(limit_count=9), reason="", by="ada")
    seen = {rule.pk: rule.stand for rule in RateLimitRule.objects.all()}
    with django_capture_on_commit_callbacks() as after_removal:
        services.remove_limits(seen, reason="", by="ada")

    assert (len(after_change), len(after_removal)) == (1, 1)
    assert [act[0] for act in recorded()] == ["CHANGE", "CHANGE", "REMOVE", "REMOVE"]


def test_acts__on_what_stands_otherwise_by_now__have_no_effect() -> None:
    rule = a_rule()
    stale = {rule.pk: "as it was once"}

    assert services.change_limits(stale, NewTerms(no_limit=True), reason="", by="ada") == []
    assert services.remove_limits(stale, reason="", by="ada") == []
    assert (list(terms().values()), recorded()) == (["5 in 60 s"], [])


def edit(browser: Browser, rule: RateLimitRule, **changes: Any) -> str:
    values = {"channel": rule.channel, "client": "", "limit_count": "9", "window_seconds": "60", "seen": rule.stand}
    address = reverse("admin:ratelimits_ratelimitrule_change", args=[rule.pk])
    return words_of(browser.post(address, values | {"reason": "why not"} | changes, follow=True).content)


def test_edit__of_one_that_was_changed_since__is_refused_and_says_what_it_says(operator: Browser) -> None:
    rule = a_rule()
    edit(operator, rule)

    told = edit(operator, rule, limit_count="10")

    assert "Somebody has changed it since you opened the page. It says: SMS, all clients together: 9 in 60 s." in told
    assert recorded() == [("CHANGE", "SMS, all clients together", "5 in 60 s", "9 in 60 s", "bea", "why not")]


def test_edit__somebody_is_quicker_by_less_than_a_request__is_refused_as_well(operator: Browser, monkeypatch) -> None:
    rule = a_rule()
    services.change_limits({rule.pk: rule.stand}, NewTerms(limit_count=8), reason="", by="ada")
    monkeypatch.setattr(RuleForm, "clean", lambda form: form.cleaned_data)  # which came before the other was stored

    told = edit(operator, rule)

    assert "Nothing was done. Since you opened the page, ada has acted on it (CHANGE)" in told
    assert list(terms().values()) == ["8 in 60 s"]


def test_edit__of_what_it_holds_for__is_recorded_where_it_went_and_where_it_came(
    operator: Browser, shop: Client
) -> None:
    edit(operator, a_rule(), client=str(shop.pk), limit_count="5")

    assert [act[:4] for act in recorded()] == [
        ("REMOVE", "SMS, all clients together", "5 in 60 s", ""),
        ("ADD", f"SMS, {shop.pk}", "", "5 in 60 s"),
    ]
    said = words_of(operator.get(reverse("admin:notifications_controlact_changelist")).content)
    assert f'SMS, <span title="SMS, {shop.pk}">Shop</span>' in said
    assert "nothing → 5 in 60 s" in said


def test_history__of_a_rule__is_the_record_of_its_acts(operator: Browser, shop: Client) -> None:
    rule = a_rule(client=shop)
    answer = operator.get(reverse("admin:ratelimits_ratelimitrule_history", args=[rule.pk]))

    assert answer.status_code == 302
    assert answer["Location"].endswith("?" + urlencode({"control__exact": "LIMIT", "name": f"SMS, {shop.pk}"}))
