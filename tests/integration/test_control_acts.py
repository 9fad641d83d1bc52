"""The record of what people did to breakers and pauses, by whichever way they came."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import IntegrityError, transaction

from notifications import queue, selectors, services
from notifications.channel import Channel
from notifications.errors import ActedMeanwhile, InvalidRequest
from notifications.metrics import BREAKER_TRIPS
from notifications.models import Control, ControlAct, Pause
from notifyq.roles import Role
from tests.support.api import Caller

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("chains")]


def recorded(control: Control, name: str = "") -> list[tuple[str, str, str]]:
    return list(selectors.control_acts(control, name).order_by("pk").values_list("action", "actor", "reason"))


def test_breaker__tripped_and_reset_by_api__each_effect_is_on_record_once(operator: Caller) -> None:
    for act, reason in (("trip", "it is slow"), ("trip", "again"), ("reset", "it is back"), ("reset", "again")):
        operator.post(f"/api/v1/breakers/EMAIL/b:x/{act}", {"reason": reason})

    who = f"{operator.client.name} ({operator.key.prefix})"
    assert recorded(Control.BREAKER, "EMAIL b:x") == [("TRIP", who, "it is slow"), ("RESET", who, "it is back")]


def test_breaker__reset_of_one_that_rests__is_an_effect_too() -> None:
    queue.throttle("a", 60)

    view = services.reset_breaker("SMS", "a", reason="they raised it", by="ada")

    assert recorded(Control.BREAKER, "SMS a") == [("RESET", "ada", "they raised it")]
    assert (view.row.act, view.row.acted_by, view.throttled_until) == ("RESET", "ada", None)


def test_breaker__that_has_left_its_chain__still_says_who_reset_it(operator: Caller, settings: Any) -> None:
    services.trip_breaker("EMAIL", "b:x", by="ada")
    chains = settings.NOTIFYQ.provider_chains | {Channel.EMAIL: ("a",)}
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, provider_chains=chains)

    answer = operator.post("/api/v1/breakers/EMAIL/b:x/reset", {"reason": "it is gone"}).json()

    assert (answer["state"], answer["lastAct"]["reason"]) == ("CLOSED", "it is gone")


def test_pause__by_api_and_command__begin_and_end_are_on_record(operator: Caller) -> None:
    made = operator.post("/api/v1/pauses", {"scope": "CHANNEL", "value": "SMS", "reason": "wrong shop"}).json()
    operator.post("/api/v1/pauses", {"scope": "CHANNEL", "value": "SMS"})
    operator.request("DELETE", f"/api/v1/pauses/{made['id']}")
    call_command("pause", "CHANNEL", "SMS", reason="still wrong")
    call_command("resume", "CHANNEL", "SMS", reason="right now")

    found = recorded(Control.PAUSE, "CHANNEL SMS")
    assert [(act, reason) for act, _, reason in found] == [
        ("PAUSE", "wrong shop"),
        ("RESUME", ""),
        ("PAUSE", "still wrong"),
        ("RESUME", "right now"),
    ]
    assert [by.partition(":")[0] for _, by, _ in found] == [made["createdBy"]] * 2 + ["command"] * 2


def test_resume__for_no_line_of_text__is_refused() -> None:
    made, _ = services.pause("ALL", by="ada")
    with pytest.raises(InvalidRequest):
        services.resume(made.pk, reason="two\nlines", by="ada")
    assert Pause.objects.get().ended_at is None


def test_record__is_neither_changed_nor_deleted() -> None:
    services.trip_breaker("SMS", "a", by="ada")
    for forbidden in (lambda: ControlAct.objects.update(actor="eve"), lambda: ControlAct.objects.all().delete()):
        with pytest.raises(IntegrityError), transaction.atomic():
            forbidden()
    assert recorded(Control.BREAKER) == [("TRIP", "ada", "")]


def test_as_seen__after_a_newer_act__refuses_and_of_another_breaker_does_not() -> None:
    services.trip_breaker("SMS", "a", by="ada")
    seen = ControlAct.objects.get().pk
    with services.breaker_as_seen("SMS", "a", seen):
        services.reset_breaker("SMS", "a", by="ada")

    with pytest.raises(ActedMeanwhile), services.breaker_as_seen("SMS", "a", seen):
        raise AssertionError("it was let in")
    with services.breaker_as_seen("EMAIL", "a", 0):
        pass


def test_trips__by_an_operator__are_counted_as_the_row_counts_them() -> None:
    counter = BREAKER_TRIPS.labels(Channel.SMS, "a")
    before = counter._value.get()
    for _ in range(2):
        view = services.trip_breaker("SMS", "a", by="ada")
    assert counter._value.get() - before == view.row.trips == 1


@pytest.mark.parametrize("role", Role)
def test_record__may_be_seen_by_every_role(role: Role) -> None:
    assert Group.objects.get(name=role.value).permissions.filter(codename="view_controlact").exists()
