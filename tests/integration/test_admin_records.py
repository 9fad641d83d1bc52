"""The records of what people did: found by person, reason, time and bulk act, and not drowned by one of those."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.test import Client

from notifications.models import ControlAct, OperatorAction
from notifications.models.operator_action import Action, ActorKind
from notifications.status import Status
from notifyq.roles import Role
from tests.support.console import person
from tests.support.factories import NotificationFactory

pytestmark = pytest.mark.django_db
ACTS = "/admin/notifications/operatoraction/"
CONTROL = "/admin/notifications/controlact/"
BULK = str(uuid4())


@pytest.fixture
def viewer() -> Client:
    return person(Role.VIEWER)


def an_act(actor: str, reason: str, action: Action = Action.RETRY, **details: str) -> OperatorAction:
    return OperatorAction.objects.create(
        notification=NotificationFactory(),
        action=action,
        actor_kind=ActorKind.USER,
        actor=actor,
        reason=reason,
        status_before=Status.FAILED,
        details=details,
    )


def reasons(browser: Client, query: str = "", place: str = ACTS) -> list[str]:
    page = browser.get(f"{place}{query}", follow=True).content.decode()
    return re.findall(r'field-reason(?:_for_viewers)?">([^<]*)<', page)


def test_acts__of_a_bulk_act__are_left_out_unless_asked_for(viewer: Client) -> None:
    an_act("ada", "by hand")
    one = an_act("grace", "of many", bulkAct=BULK)

    assert reasons(viewer) == ["by hand"]
    assert reasons(viewer, "?bulk=all") == ["of many", "by hand"]
    assert reasons(viewer, "?bulk=only") == ["of many"]
    assert reasons(viewer, f"?q={BULK}") == ["of many"]
    assert reasons(viewer, f"?q={one.notification_id}") == ["of many"]
    assert f"/admin/bulk/{BULK}/" in viewer.get(f"{ACTS}?bulk=all").content.decode()


def test_acts__marks__say_which_way(viewer: Client) -> None:
    for outcome in ("SENT", "FAILED"):
        an_act("ada", "asked the vendor", Action.RESOLVE, outcome=outcome)

    page = viewer.get(ACTS).content.decode()

    assert re.findall(r'field-what">([^<]*)<', page) == ["RESOLVE, as not delivered", "RESOLVE, as sent"]


def test_acts__looked_for__are_found_by_person_reason_and_time(viewer: Client) -> None:
    operator = person(Role.OPERATOR)
    an_act("ada", "the vendor was away")
    an_act("grace", "a wrong template")

    assert reasons(operator, "?q=vendor") == ["the vendor was away"]
    assert reasons(viewer, "?q=GRACE") == ["a wrong template"]
    assert reasons(viewer, "?person=ada") == ["the vendor was away"]
    assert len(reasons(viewer, "?done=hour")) == 2


def test_acts__on_controls__are_found_alike_and_lead_to_the_others(viewer: Client) -> None:
    for actor, reason in (("ada", "too slow"), ("grace", "fast again")):
        ControlAct.objects.create(control="BREAKER", name="SMS x", action="TRIP", actor=actor, reason=reason)

    assert reasons(person(Role.OPERATOR), "?q=slow", CONTROL) == ["too slow"]
    assert reasons(viewer, "?person=grace&done=day", CONTROL) == ["fast again"]
    assert ACTS in viewer.get(CONTROL).content.decode()
    assert CONTROL in viewer.get(ACTS).content.decode()


@pytest.mark.parametrize(
    ("place", "title"),
    [("notifications/notification", "Notifications"), ("webhooks/webhookendpoint", "Webhook endpoints")],
)
def test_list__of_rows__is_named_for_what_it_holds(viewer: Client, place: str, title: str) -> None:
    page = viewer.get(f"/admin/{place}/").content.decode()

    assert f"<h1>{title}</h1>" in page
    assert f'<a href="/admin/">Home</a> &rsaquo; {title}</div>' in page
