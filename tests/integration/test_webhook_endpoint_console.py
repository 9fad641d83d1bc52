"""Webhook endpoints in the console: what their pages lead to, and enabling and disabling them."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from notifyq.roles import Role
from tests.integration.test_webhook_bulk_console import ENDPOINTS, FAILED, hidden, look
from tests.support.console import person, words_of
from tests.support.rows import database_now
from tests.support.webhook_rows import an_endpoint, an_event, reloaded, some_events
from webhooks.models import WebhookEvent
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    monkeypatch.setattr("webhooks.queue.wake.notify", lambda channel: None)


@pytest.fixture
def operator() -> Client:
    return person(Role.OPERATOR)


def test_endpoint__its_page__leads_to_its_events(operator):
    endpoint = an_endpoint()
    event, _other = an_event(endpoint, status=FAILED), an_event(status=FAILED)

    page = operator.get(reverse("admin:webhooks_webhookendpoint_change", args=[endpoint.pk])).content.decode()

    [link] = re.findall(r'href="([^"]*webhookevent/\?endpoint=[^"]*)"', page)
    assert [row.pk for row in operator.get(link).context["cl"].result_list] == [event.pk]


def test_endpoint__its_page__offers_what_can_be_done(operator):
    opened, closed, gone = (
        an_endpoint(),
        an_endpoint(enabled=False),
        an_endpoint(enabled=False, deleted_at=database_now()),
    )

    def offered(browser, endpoint):
        page = browser.get(reverse("admin:webhooks_webhookendpoint_change", args=[endpoint.pk])).content.decode()
        return re.findall(r'name="action" value="(\w+)"', page)

    assert [offered(operator, each) for each in (opened, closed, gone)] == [["disable"], ["enable"], []]
    assert offered(person(Role.VIEWER), closed) == []


def page_of(browser, endpoint):
    return browser.get(reverse("admin:webhooks_webhookendpoint_change", args=[endpoint.pk])).content.decode()


def links(page, words):
    return [html.unescape(address) for address in re.findall(rf'href="([^"]+)">{re.escape(words)}', page)]


def test_endpoint__of_waiting_events__offers_to_deliver_them_now(operator):
    endpoint = an_endpoint(failing_since=database_now())
    some_events(endpoint, 3, due_at=database_now() + timedelta(hours=2))
    an_event(endpoint)

    page = page_of(operator, endpoint)

    assert "3 of its events wait for a later try." in words_of(page.encode())
    [link] = links(page, "Deliver all that wait now…")
    assert "Redeliver 3 webhook events" in words_of(operator.get(link).content)
    [link] = links(page_of(person(Role.VIEWER), endpoint), "See them")
    assert operator.get(link).context["cl"].result_count == 4
    assert "wait for a later try" not in page_of(operator, an_endpoint())


def test_endpoint__of_cancelled_events__leads_to_them_until_they_are_redelivered(operator):
    endpoint = an_endpoint()
    some_events(endpoint, 2, status=EventStatus.CANCELLED)
    closed = an_event(an_endpoint(enabled=False), status=EventStatus.CANCELLED).endpoint

    page = page_of(operator, endpoint)

    assert "2 of its events were cancelled" in words_of(page.encode())
    [link] = links(page, "Redeliver them…")
    assert operator.get(link).context["preview"].count.actionable == 2
    assert links(page_of(operator, closed), "Redeliver") == []
    assert "was cancelled, as it takes none. Enable it first" in words_of(page_of(operator, closed).encode())
    [*listed] = links(operator.get(ENDPOINTS).content.decode(), "cancelled events")
    assert [str(pk) in address for pk, address in zip((closed.pk, endpoint.pk), listed, strict=True)] == [True, True]
    WebhookEvent.objects.update(status=EventStatus.PENDING, finished_at=None)
    assert "cancelled" not in page_of(operator, endpoint).partition('id="content"')[2]
    assert "cancelled events" not in operator.get(ENDPOINTS).content.decode()


@pytest.mark.parametrize("count", [1, 2, 12])
def test_enable__an_endpoint_of_cancelled_events__leads_to_their_redelivery(operator, count):
    endpoints = [an_endpoint(enabled=False, disabled_reason="GONE") for _ in range(count)]
    for endpoint in endpoints:
        some_events(endpoint, 2, status=EventStatus.CANCELLED)
    form = {"action": "enable", "_selected_action": [str(e.pk) for e in endpoints], "index": "0"}
    seen = hidden(operator.post(ENDPOINTS, form).content.decode(), "seen")

    answer = operator.post(ENDPOINTS, form | {"seen": seen, "confirmed": "yes", "reason": "mended"}, follow=True)

    found = links(answer.content.decode(), "Redeliver them…" if count < 10 else "Redeliver what was cancelled, for any")
    assert sum(operator.get(link).context["preview"].count.actionable for link in found) == 2 * count
    assert len(found) == (count if count < 10 else 1)


def test_enable__an_endpoint_of_events_to_redeliver__makes_them_redeliverable(operator):
    endpoint = an_endpoint(enabled=False, disabled_reason="FAILING")
    an_event(endpoint, status=FAILED)
    assert "Enable it first</a>" in words_of(look(operator).content)
    form = {"action": "enable", "_selected_action": [str(endpoint.pk)], "index": "0"}
    asked = operator.post(ENDPOINTS, form)

    sent = form | {"seen": hidden(asked.content.decode(), "seen"), "confirmed": "yes", "reason": "mended"}
    page = words_of(operator.post(ENDPOINTS, sent, follow=True).content)

    endpoint.refresh_from_db()
    assert (endpoint.enabled, endpoint.disabled_reason) == (True, "")
    assert f"{endpoint} is enabled." in page
    assert (
        "mended" in operator.get(reverse("admin:webhooks_webhookendpoint_history", args=[endpoint.pk])).content.decode()
    )
    assert look(operator).context["preview"].count.actionable == 1


def test_disable__an_endpoint_of_waiting_events__cancels_them(operator):
    event = an_event(status=EventStatus.PENDING)
    form = {
        "action": "disable",
        "_selected_action": [str(event.endpoint_id)],
        "confirmed": "yes",
        "reason": "they asked",
    }
    asked = operator.post(ENDPOINTS, {"action": "disable", "_selected_action": [str(event.endpoint_id)], "index": "0"})

    operator.post(ENDPOINTS, form | {"seen": hidden(asked.content.decode(), "seen")}, follow=True)

    assert reloaded(event).status == EventStatus.CANCELLED


@pytest.mark.parametrize("columns", [{}, {"enabled": False, "deleted": True}])
def test_enable__of_what_is_enabled_or_deleted__says_so(operator, columns):
    at = {"deleted_at": database_now()} if columns.pop("deleted", False) else {}
    endpoint = an_endpoint(**columns, **at)
    form = {"action": "enable", "_selected_action": [str(endpoint.pk)], "index": "0"}
    seen = hidden(operator.post(ENDPOINTS, form).content.decode(), "seen")

    page = operator.post(ENDPOINTS, form | {"seen": seen, "confirmed": "yes", "reason": "x"}, follow=True)

    assert ("is deleted: nothing" if at else "is enabled already") in words_of(page.content)
