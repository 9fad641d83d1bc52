"""Redelivering a webhook event from the page of its notification."""

from __future__ import annotations

import html
import json
import logging
import re

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from notifications.models import Notification
from notifyq.roles import Role
from notifyq.runtime.ids import uuid7
from notifyq.runtime.logs import JsonFormatter
from tests.support.console import person, words_of
from tests.support.factories import NotificationFactory
from tests.support.webhook_rows import an_endpoint, an_event, reloaded
from webhooks.models import Redelivery, WebhookEndpoint, WebhookEvent
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db
ADDRESS = "/admin/webhooks/webhookevent/redeliver/"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def row() -> Notification:
    return NotificationFactory(status="SENT")


@pytest.fixture
def operator() -> Client:
    return person(Role.OPERATOR, "ops")


def event_of(row: Notification, status: EventStatus = EventStatus.FAILED, **columns) -> WebhookEvent:
    return an_event(
        an_endpoint("https://hooks.example/in", client=row.client), notification=row, status=status, **columns
    )


def page_of(browser: Client, row: Notification) -> str:
    return words_of(browser.get(f"/admin/notifications/notification/{row.pk}/change/").content)


def choices(page: str) -> list[str]:
    return [html.unescape(value) for value in re.findall(r'<option value="([0-9a-f-]{36}:[^"]+)"', page)]


def post(browser: Client, chosen: str, reason: str = "their server is back") -> tuple[str, str]:
    """Where the person is led, and what they are told."""
    answer = browser.post(ADDRESS, {"event": chosen, "reason": reason})
    assert answer.status_code == 302
    told = " ".join(str(message) for message in get_messages(answer.wsgi_request))
    browser.cookies.pop("messages", None)
    return answer["Location"], told


@pytest.mark.parametrize("status", [EventStatus.DELIVERED, EventStatus.FAILED, EventStatus.CANCELLED])
def test_redeliver__finished_event__is_queued_again_and_recorded(
    operator: Client, row: Notification, status: EventStatus, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    event = event_of(row, status)
    [chosen] = choices(page_of(operator, row))

    place, told = post(operator, chosen, f" {HOSTILE} ")

    assert (place, told) == (
        f"/admin/notifications/notification/{row.pk}/change/", "The webhook event is delivered again at once.",
    )  # fmt: skip
    assert (reloaded(event).status, reloaded(event).cycle) == (EventStatus.PENDING, 2)
    entry = Redelivery.objects.get()
    assert (entry.event_id, entry.actor_kind, entry.actor, entry.reason) == (event.pk, "USER", "ops", HOSTILE)
    assert (entry.status_before, entry.details) == (status, {})
    [line] = [json.loads(JsonFormatter().format(r)) for r in caplog.records if r.msg == "operator_redelivered"]
    assert (line["event_id"], line["actor"]) == (str(event.pk), "ops")
    page = page_of(operator, row)
    assert "Webhook event for hooks.example redelivered by ops" in page
    assert HOSTILE not in page


def test_redeliver__sent_twice__is_queued_once(operator: Client, row: Notification) -> None:
    event = event_of(row)
    [chosen] = choices(page_of(operator, row))
    post(operator, chosen)
    WebhookEvent.objects.update(status=EventStatus.FAILED, finished_at=event.finished_at)  # it failed again meanwhile

    _, told = post(operator, chosen)

    assert told.startswith("Nothing was done. The event has moved on since you opened the page")
    assert reloaded(event).cycle == 2
    assert Redelivery.objects.count() == 1
    [fresh] = choices(page_of(operator, row))
    assert "again at once" in post(operator, fresh)[1]


def test_redeliver__waiting_event__goes_before_its_time(operator: Client, row: Notification) -> None:
    event = event_of(row, EventStatus.PENDING, due_at="2099-01-01T00:00:00Z")
    [chosen] = choices(page_of(operator, row))

    assert "again at once" in post(operator, chosen)[1]
    assert reloaded(event).due_at.year < 2099


def test_redeliver__on_its_way__is_not_offered_and_refused(operator: Client, row: Notification) -> None:
    event = event_of(row, EventStatus.PROCESSING)

    assert choices(page_of(operator, row)) == []
    assert "being delivered at this moment" in post(operator, f"{event.pk}:1:PROCESSING:1")[1]
    assert not Redelivery.objects.exists()


def test_redeliver__endpoint_disabled_meanwhile__is_refused(operator: Client, row: Notification) -> None:
    event = event_of(row)
    [chosen] = choices(page_of(operator, row))
    WebhookEndpoint.objects.update(enabled=False, disabled_at=event.created_at)

    assert "disabled" in post(operator, chosen)[1]
    assert choices(page_of(operator, row)) == []
    assert reloaded(event).status == EventStatus.FAILED


@pytest.mark.parametrize("stood", ["", "1", "1:FAILED", "x:FAILED:0", "1:FAILED:-1", f"{'9' * 9}:FAILED:0"])
def test_redeliver__without_what_was_seen__is_refused(operator: Client, row: Notification, stood: str) -> None:
    event = event_of(row)

    assert "Please use the form" in post(operator, f"{event.pk}:{stood}")[1]
    assert reloaded(event).cycle == 1


@pytest.mark.parametrize(("chosen", "told"), [("", "Choose an event."), ("x:1:FAILED:0", "Choose an event.")])
def test_redeliver__no_event__leads_to_the_list(operator: Client, chosen: str, told: str) -> None:
    assert post(operator, chosen) == ("/admin/webhooks/webhookevent/", f"Nothing was done. {told}")


def test_redeliver__unknown_event__leads_to_the_list(operator: Client) -> None:
    assert "not there any more" in post(operator, f"{uuid7()}:1:FAILED:0")[1]


def test_redeliver__without_a_reason__is_refused(operator: Client, row: Notification) -> None:
    event = event_of(row)
    [chosen] = choices(page_of(operator, row))

    assert "Please give a reason." in post(operator, chosen, " ")[1]
    assert reloaded(event).cycle == 1


def test_redeliver__test_event_of_no_notification__leads_to_the_event(operator: Client) -> None:
    event = an_event(status=EventStatus.FAILED, sequence=0)

    place, told = post(operator, f"{event.pk}:1:FAILED:0")

    assert (place, told) == (
        f"/admin/webhooks/webhookevent/{event.pk}/change/", "The webhook event is delivered again at once.",
    )  # fmt: skip


def test_redeliver__by_those_who_may_not__is_neither_offered_nor_done(row: Notification, client: Client) -> None:
    event = event_of(row)
    viewer, form = person(Role.VIEWER), {"event": f"{event.pk}:1:FAILED:0", "reason": "x"}

    page = page_of(viewer, row)

    assert "Webhook event notification.sent for hooks.example" in page
    assert choices(page) == []
    assert viewer.post(ADDRESS, form).status_code == 403
    assert "/admin/login/" in client.post(ADDRESS, form)["Location"]
    assert person(Role.OPERATOR).get(ADDRESS, form).status_code == 405
    assert reloaded(event).cycle == 1


def test_story__without_the_permission_on_webhooks__leaves_them_out(client: Client, row: Notification) -> None:
    from django.contrib.auth.models import Permission, User

    user = User.objects.create(username="half", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_notification"))
    client.force_login(user)
    event_of(row)

    assert "Webhook event" not in page_of(client, row)
