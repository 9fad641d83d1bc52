"""The console's pages of webhooks, and the gauges."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from prometheus_client import CollectorRegistry, generate_latest

from notifyq import secrets
from notifyq.queue_metrics import QueueCollector
from tests.support.receiver import Answer, Receiver
from tests.support.webhook_api import Caller
from tests.support.webhook_pass import one_pass
from tests.support.webhook_rows import SECRET, an_endpoint, an_event, moved, notifications
from webhooks.models import WebhookAttempt, WebhookEndpoint
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def operator(client):
    client.force_login(User.objects.create_superuser("op"))
    return client


def test_pages__of_each_model__show_no_secret_and_change_nothing(operator):
    caller = Caller()
    (notification,) = notifications(1, client=caller.client)
    endpoint = an_endpoint(client=caller.client, previous_secret_encrypted=secrets.encrypt(SECRET))
    event = an_event(endpoint, notification_id=notification)
    with Receiver(lambda _: Answer(500, b"<b>down</b>")) as receiver:
        WebhookEndpoint.objects.update(url=receiver.url)
        one_pass()
    attempt = WebhookAttempt.objects.get()
    endpoint.refresh_from_db()
    stored = {endpoint.secret_encrypted, endpoint.previous_secret_encrypted, SECRET}
    for row in (endpoint, event, attempt):
        name = row._meta.model_name
        listed = operator.get(reverse(f"admin:webhooks_{name}_changelist")).content.decode()
        shown = operator.get(reverse(f"admin:webhooks_{name}_change", args=[row.pk])).content.decode()
        assert str(row.pk) in listed
        assert not [text for text in stored if text in listed + shown]
        assert "<b>down" not in shown
        assert operator.post(reverse(f"admin:webhooks_{name}_change", args=[row.pk])).status_code == 403
        assert operator.get(reverse(f"admin:webhooks_{name}_add")).status_code == 403


@pytest.mark.parametrize("key", ["pk", "notification_id", "endpoint_id"])
def test_search__of_events__finds_by_each_id(operator, key):
    caller = Caller()
    (notification,) = notifications(1, client=caller.client)
    event, other = an_event(an_endpoint(client=caller.client), notification_id=notification), an_event()

    page = operator.get(reverse("admin:webhooks_webhookevent_changelist"), {"q": str(getattr(event, key))})

    assert str(event.pk) in page.content.decode()
    assert str(other.pk) not in page.content.decode()


def test_gauges__of_webhooks__tell_states_and_the_oldest_due_event():
    registry = CollectorRegistry(auto_describe=False)
    registry.register(QueueCollector())
    for columns in ({}, {"failing_since": "2026-01-01T00:00:00Z"}, {"enabled": False, "disabled_reason": "GONE"}):
        endpoint = an_endpoint(**columns)
        event = an_event(endpoint)
        moved(event, due_at=-600 if columns else -60)
    an_event(status=EventStatus.DELIVERED)

    lines = generate_latest(registry).decode().splitlines()
    figures = dict(line.rsplit(" ", 1) for line in lines if line.startswith("notifyq_webhook"))

    assert float(figures['notifyq_webhook_endpoints{state="enabled"}']) == 3
    assert float(figures['notifyq_webhook_endpoints{state="failing"}']) == 1
    assert float(figures['notifyq_webhook_endpoints{state="disabled"}']) == 1
    assert 59 < float(figures["notifyq_webhook_oldest_due_age_seconds"]) < 120
    assert "notifyq_scrape_failed 0.0" in lines


def test_event__of_its_own_page__is_redelivered_there_for_a_reason(operator):
    event = an_event(an_endpoint(), status=EventStatus.FAILED, attempt_count=8, last_error_code="timeout")
    place = reverse("admin:webhooks_webhookevent_change", args=[event.pk])
    page = operator.get(place).content.decode()
    assert "All 8 tries failed, the last with timeout" in page
    form = {"event": f"{event.pk}:{event.cycle}:FAILED:8", "from": "event", "seen": "", "reason": ""}
    assert f'value="{form["event"]}"' in page

    refused = operator.post(reverse("admin:webhook-redeliver"), form, follow=True)
    assert refused.redirect_chain[0][0] == place
    assert "Please give a reason." in refused.content.decode()
    done = operator.post(reverse("admin:webhook-redeliver"), form | {"reason": "it is back"}, follow=True)

    assert "is delivered again at once" in done.content.decode()
    assert "it is back" in done.content.decode()
    event.refresh_from_db()
    assert (event.status, event.cycle) == (EventStatus.PENDING, 2)


def test_event__of_a_closed_endpoint__offers_nothing_and_says_why(operator):
    event = an_event(an_endpoint(enabled=False), status=EventStatus.CANCELLED)

    page = operator.get(reverse("admin:webhooks_webhookevent_change", args=[event.pk])).content.decode()

    assert "Nothing as long as its endpoint is disabled by its owner." in page
    assert reverse("admin:webhook-redeliver") not in page


def test_events__of_several_endpoints_at_one_host__are_told_apart(operator):
    for url in ("http://127.0.0.1:9/shop", "http://127.0.0.1:10/bank"):
        an_event(an_endpoint(url))

    page = operator.get(reverse("admin:webhooks_webhookevent_changelist")).content.decode()

    assert ">127.0.0.1:9 …" in page
    assert ">127.0.0.1:10 …" in page
    assert 'class="field-client"' in page
