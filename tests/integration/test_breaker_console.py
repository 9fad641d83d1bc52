"""Breakers in the console: a page for each, trips and resets with a reason, and the record of both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from notifications import queue, services
from notifications.breaker import BreakerRule, Calls
from notifications.channel import Channel
from notifications.models import ControlAct, ProviderHealth
from notifyq.roles import Role
from tests.support.api import Caller
from tests.support.console import person, words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("chains")]

LIST = "/admin/notifications/providerhealth/"
TRIP = f"{LIST}add/"


def fails() -> ProviderHealth:
    """EMAIL a is out of use by itself."""
    calls = Calls(0, failures=1, opens=True, error_code="http_401", error_message="no such key")
    queue.record_calls((Channel.EMAIL, "a"), calls, BreakerRule())
    return ProviderHealth.objects.get()


def page(browser: Client, row: ProviderHealth) -> str:
    answer = browser.get(f"{LIST}{row.pk}/change/")
    assert answer.status_code == 200
    return words_of(answer.content)


def fields_on(browser: Client, address: str, **values: str) -> dict[str, str]:
    """What the form on a page sends, filled in."""
    [seen, *_] = re.findall(r'name="seen" value="(\d+)"', browser.get(address).content.decode())
    return {"seen": seen, **values}


def told(answer: Any) -> list[str]:
    return [str(message) for message in answer.context["messages"]]


@pytest.mark.parametrize("has_row", [False, True])
def test_trip_page__provider_with_or_without_a_row__is_tripped_once_with_the_reason(has_row: bool) -> None:
    if has_row:
        fails()
    browser = person(Role.OPERATOR)
    assert "EMAIL b:x" in words_of(browser.get(TRIP).content)
    form = fields_on(browser, TRIP, which="EMAIL/a", reason="their status page says so")

    first = browser.post(TRIP, form, follow=True)
    again = browser.post(TRIP, form, follow=True)

    row = ProviderHealth.objects.get()
    assert first.redirect_chain == [(f"{LIST}{row.pk}/change/", 302)]
    assert told(first) == ["EMAIL a is tripped. It takes up to a second until all workers know."]
    assert told(again) == [
        "Nothing was done. Since you opened the page, operator has acted on it (TRIP): look at it anew."
    ]
    assert (row.tripped, row.acted_by, row.act_reason) == (True, "operator", "their status page says so")
    assert ControlAct.objects.count() == 1


def test_trip_page__of_one_that_is_tripped__says_so_and_keeps_the_reason() -> None:
    services.trip_breaker("EMAIL", "a", reason="the first", by="ada")
    browser = person(Role.OPERATOR)
    assert "EMAIL a (tripped by ada)" in words_of(browser.get(TRIP).content)

    answer = browser.post(TRIP, fields_on(browser, TRIP, which="EMAIL/a", reason="another"), follow=True)

    assert told(answer) == ["Nothing was done. It is tripped already."]
    assert ProviderHealth.objects.get().act_reason == "the first"


@pytest.mark.parametrize(
    "wrong", [{"which": "SMS/b:x"}, {"which": ""}, {"reason": " "}, {"reason": "x" * 256}, {"seen": "x"}]
)
def test_trip_page__filled_in_wrongly__asks_again(wrong: dict[str, str]) -> None:
    form = {"which": "SMS/a", "reason": "slow", "seen": "0", **wrong}
    answer = person(Role.OPERATOR).post(TRIP, form)
    assert answer.status_code == 200
    assert "Nothing was done." in words_of(answer.content)
    assert not ProviderHealth.objects.exists()


def test_page__of_a_breaker__says_how_it_stands_and_what_everybody_did(operator: Caller) -> None:
    row = fails()
    browser = person(Role.OPERATOR)
    shown = page(browser, row)
    assert "It is out of use since" in shown
    assert "http_401: no such key" in shown

    operator.post("/api/v1/breakers/EMAIL/a/trip", {"reason": "by a program"})
    shown = page(browser, row)

    assert "tripped it" in shown
    assert f"<strong>Trip</strong> by {operator.client.name} ({operator.key.prefix})" in shown
    assert "by a program" in shown
    history = browser.get(f"{LIST}{row.pk}/history/", follow=True)
    assert "by a program" in words_of(history.content)


def test_reset__of_ticked_ones__claims_nothing_of_those_in_use(operator: Caller) -> None:
    for channel, name in (("EMAIL", "a"), ("SMS", "a")):
        services.trip_breaker(channel, name, reason="they fail", by="ada")
    services.reset_breaker("SMS", "a", by="ada")
    rows, browser = ProviderHealth.objects.order_by("channel"), person(Role.OPERATOR, "otto")
    acts = ControlAct.objects.count()

    asked = browser.post(LIST, {"action": "reset", "_selected_action": [row.pk for row in rows]}).content.decode()
    assert 'EMAIL a <span class="nq-help">ada tripped it at <time' in asked
    assert 'SMS a <span class="nq-help">It is called as usual.</span>' in asked
    form = {"action": "reset", "_selected_action": [row.pk for row in rows], "confirmed": "yes", "reason": "again"}
    answer = browser.post(LIST, form | {"seen": [f"{row.pk}:{row.acted_at}" for row in rows]}, follow=True)

    assert told(answer) == [
        "SMS a was in use already.",
        "EMAIL a is reset. It takes up to a second until all workers know.",
    ]
    assert ControlAct.objects.count() == acts + 1


def test_page__reset_and_trip__act_once_for_each_look(operator: Caller) -> None:
    row = fails()
    browser = person(Role.OPERATOR)
    reset = fields_on(browser, f"{LIST}{row.pk}/change/", reason="it is back")

    first = browser.post(f"{LIST}{row.pk}/reset/", reset, follow=True)
    services.trip_breaker("EMAIL", "a", by="ada")
    late = browser.post(f"{LIST}{row.pk}/reset/", reset, follow=True)

    assert told(first) == ["EMAIL a is reset. It takes up to a second until all workers know."]
    assert told(late) == ["Nothing was done. Since you opened the page, ada has acted on it (TRIP): look at it anew."]
    row.refresh_from_db()
    assert row.tripped
    trip = fields_on(browser, f"{LIST}{row.pk}/change/", reason="once more")
    again = browser.post(f"{LIST}{row.pk}/trip/", trip, follow=True)
    assert told(again) == ["Nothing was done. It is tripped already."]


@pytest.mark.parametrize("wrong", [{"reason": ""}, {"reason": "two\nlines"}, {"seen": ""}, {"seen": "-1"}])
def test_page__form_without_what_it_needs__does_nothing(wrong: dict[str, str]) -> None:
    row = fails()
    form = {"reason": "why", "seen": "0", **wrong}
    answer = person(Role.OPERATOR).post(f"{LIST}{row.pk}/reset/", form, follow=True)
    assert told(answer)[0].startswith("Nothing was done. ")
    assert not ControlAct.objects.exists()


def test_acts__by_get_or_by_a_viewer__are_refused() -> None:
    row = fails()
    form = {"which": "EMAIL/a", "reason": "why", "seen": "0"}
    viewer, operator = person(Role.VIEWER), person(Role.OPERATOR)
    for act in ("trip", "reset"):
        assert viewer.post(f"{LIST}{row.pk}/{act}/", form).status_code == 403
        assert operator.get(f"{LIST}{row.pk}/{act}/").status_code == 405
        assert operator.post(f"{LIST}{row.pk + 1}/{act}/", form).status_code == 404
    assert viewer.post(TRIP, form).status_code == viewer.get(TRIP).status_code == 403
    assert operator.post(f"{LIST}{row.pk}/change/", form).status_code == 403
    assert not ControlAct.objects.exists()
    assert 'name="seen"' not in page(viewer, row)
    assert "Trip a provider" not in words_of(viewer.get(LIST).content)


def test_list__of_providers__leads_to_tripping_and_to_the_record() -> None:
    fails()
    listed = words_of(person(Role.OPERATOR).get(LIST).content)
    assert "<h1>Providers</h1>" in listed
    assert "Trip a provider" in listed
    assert "control__exact=BREAKER" in listed


def test_pause__its_history__is_the_record_of_all_acts(operator: Caller) -> None:
    made = operator.post("/api/v1/pauses", {"scope": "CHANNEL", "value": "SMS", "reason": "by a program"}).json()
    shown = person(Role.VIEWER).get(f"/admin/notifications/pause/{made['id']}/history/", follow=True)
    assert "by a program" in words_of(shown.content)
