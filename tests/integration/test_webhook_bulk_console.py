"""The console's redelivery of the ticked events, and of all that match: who may, what is shown, one effect each."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from notifications import queue
from notifications.models import BulkAct, BulkStatus
from notifyq.roles import Role
from tests.support.bulk import let_pass
from tests.support.console import fields_of, person, words_of
from tests.support.rows import database_now
from tests.support.webhook_rows import an_endpoint, an_event, reloaded, some_events
from webhooks.models import Redelivery, WebhookEvent
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db
LIST = reverse("admin:webhooks_webhookevent_changelist")
TICKED, PREVIEW, BEGIN = (reverse(f"admin:webhook-redeliver-{name}") for name in ("ticked", "preview", "begin"))
ENDPOINTS = reverse("admin:webhooks_webhookendpoint_changelist")
FAILED = EventStatus.FAILED


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    monkeypatch.setattr("webhooks.queue.wake.notify", lambda channel: None)


@pytest.fixture
def operator() -> Client:
    return person(Role.OPERATOR, "ops")


def hidden(page, name):
    return [html.unescape(value) for value in re.findall(rf'name="{name}" value="([^"]*)"', page)]


def ask(browser, events, **more):
    return browser.post(TICKED, {"event": [str(e.pk) for e in events]} | more)


def confirm(browser, asked, **more):
    page = asked.content.decode()
    form = {"event": hidden(page, "event"), "back": hidden(page, "back")[0], "confirmed": "yes"}
    return browser.post(TICKED, form | {"reason": "their server is back"} | more, follow=True)


def look(browser, **query):
    answer = browser.get(PREVIEW, {"status": "FAILED"} | query)
    assert answer.status_code == 200
    return answer


def begin(browser, answer, **more):
    form = fields_of(answer.content, "data-looked-at") | {"rate": "100"}
    return browser.post(BEGIN, form | {"reason": "their server is back"} | more)


def cycles():
    return sorted(WebhookEvent.objects.values_list("cycle", flat=True))


def test_list__of_an_operator__can_be_ticked_and_leads_to_all_that_match(operator):
    endpoint = an_endpoint("https://hooks.example/secret-path")
    event = an_event(endpoint, status=FAILED, last_error_code="timeout")
    query = {"status": "FAILED", "endpoint": str(endpoint.pk), "error_code": "timeout", "created": "day"}

    page = operator.get(LIST, query).content.decode()

    assert hidden(page, "event") == [str(event.pk)]
    assert "hooks.example" in page
    assert "secret-path" not in page
    [link] = [html.unescape(a) for a in re.findall(r'class="nq-bulk" href="([^"]+)"', page)]
    seen = operator.get(link)
    assert seen.context["preview"].count.total == 1
    stored = seen.context["preview"].selection
    assert (stored.endpoint_id, stored.status, stored.error_code) == (endpoint.pk, FAILED, "timeout")
    assert database_now() - stored.after < timedelta(days=1, minutes=1)


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ({}, 1),
        ({"status": "DELIVERED"}, 1),
        ({"status": "CANCELLED"}, 1),
        ({"client": "client"}, 1),
        ({"q": "endpoint"}, 1),
        ({"status": "PENDING"}, 1),
        ({"status": "PROCESSING"}, None),
        ({"q": "nothing"}, None),
        ({"q": "event"}, None),
        ({"sequence": "1"}, None),
    ],
)
def test_list__all_that_match__means_what_the_list_shows_or_is_not_offered(operator, query, total):
    endpoint = an_endpoint()
    event = an_event(endpoint, status=FAILED)
    an_event(endpoint, status=EventStatus.DELIVERED)
    an_event(status=EventStatus.CANCELLED)
    an_event(status=EventStatus.PENDING, due_at=database_now() + timedelta(hours=1))
    an_event(status=EventStatus.PROCESSING)
    known = {"client": endpoint.client_id, "endpoint": endpoint.pk, "event": event.pk}
    given = {name: str(known.get(text, text)) for name, text in query.items()}

    links = re.findall(r'class="nq-bulk" href="([^"]+)"', operator.get(LIST, given).content.decode())

    if total is None:
        assert links == []
    else:
        assert operator.get(html.unescape(links[0])).context["preview"].count.total == total


def test_record__of_redeliveries__is_seen_by_viewers_and_changed_by_nobody(admin_client):
    event = an_event(status=FAILED)
    Redelivery.objects.create(event=event, actor_kind="USER", actor="ops", reason="why not", status_before="FAILED")
    listed, viewer = reverse("admin:webhooks_redelivery_changelist"), person(Role.VIEWER)

    assert "why not" in viewer.get(listed, {"q": str(event.pk)}).content.decode()
    assert not viewer.get(listed, {"q": "0" * 32}).context["cl"].result_list
    change = reverse("admin:webhooks_redelivery_change", args=[Redelivery.objects.get().pk])
    assert admin_client.get(change).status_code == 200
    assert admin_client.post(change, {"reason": "x"}).status_code == 403


def test_list__of_a_viewer__has_nothing_to_tick(operator):
    an_event(status=FAILED)
    viewer = person(Role.VIEWER)

    page = viewer.get(LIST).content.decode()

    assert "checkbox" not in page
    assert "edeliver" not in page.partition('id="content"')[2]


def test_list__filter_that_fits_nothing__shows_nothing(operator):
    an_event(status=FAILED)

    assert not operator.get(LIST, {"error_code": "none"}).context["cl"].result_list


@pytest.mark.parametrize(
    "filters", [{"endpoint": "x"}, {"client": "x"}, {"endpoint": "0" * 32}, {"status": "NONSENSE"}]
)
def test_list__filter_by_what_there_is_not__is_refused_and_leads_to_no_bulk_act(operator, filters):
    an_event(status=FAILED)

    answer = operator.get(LIST, filters, follow=True)

    assert answer.redirect_chain == [(f"{LIST}?e=1", 302)]
    assert "is no choice of its filter" in words_of(answer.content)
    assert not answer.context["bulk_address"]


def test_list__its_queries__are_few_however_many_rows(operator, django_assert_max_num_queries):
    for _ in range(3):
        some_events(an_endpoint(), 5, status=FAILED)

    with django_assert_max_num_queries(16):
        operator.get(LIST)


def test_ticked__first__are_shown_and_a_reason_is_asked_for(operator):
    open_one = an_event(an_endpoint("https://a.example/x"), status=EventStatus.DELIVERED)
    closed, busy = an_event(an_endpoint(enabled=False), status=FAILED), an_event(status=EventStatus.PROCESSING)

    page = words_of(ask(operator, [open_one, closed, busy]).content)

    assert hidden(page, "event") == [f"{open_one.pk}:1:DELIVERED:0"]
    assert "1 of the ticked is left out: its endpoint is disabled or deleted" in page
    assert "1 of the ticked is left out: being delivered" in page
    assert "1 of them was delivered already" in page
    assert cycles() == [1, 1, 1]


def test_ticked__confirmed__are_delivered_again_once_and_recorded(operator):
    events = some_events(an_endpoint(), 2, status=FAILED)
    asked = ask(operator, events, back="status=FAILED&p=2")

    page = confirm(operator, asked)

    assert page.redirect_chain == [(f"{LIST}?status=FAILED&p=2", 302)]
    assert "Redeliver: done for 2 of 2" in page.content.decode()
    assert cycles() == [2, 2]
    recorded = Redelivery.objects.values_list("event", "actor", "reason", "status_before")
    assert set(recorded) == {(e.pk, "ops", "their server is back", "FAILED") for e in events}


def test_ticked__sent_twice_and_failed_in_between__happens_once(operator):
    [event] = some_events(an_endpoint(), 1, status=FAILED)
    asked = ask(operator, [event])
    confirm(operator, asked)
    WebhookEvent.objects.update(status=FAILED, finished_at=event.finished_at)

    page = confirm(operator, asked).content.decode()

    assert "1 left alone. The event has moved on" in page
    assert (cycles(), Redelivery.objects.count()) == ([2], 1)
    confirm(operator, ask(operator, [event]))  # a fresh look
    assert cycles() == [3]


@pytest.mark.parametrize("more", [{"reason": " "}, {"event": "unseen"}])
def test_ticked__without_a_reason_or_a_look__asks_again(operator, more):
    event = an_event(status=FAILED)
    more = more if "reason" in more else {"event": [str(event.pk)]}

    page = confirm(operator, ask(operator, [event]), **more)

    assert page.redirect_chain == []
    assert "Reason, for the record" in page.content.decode()
    assert cycles() == [1]


def test_ticked__endpoint_disabled_since__is_left_and_told(operator):
    event = an_event(status=FAILED)
    asked = ask(operator, [event])
    type(event.endpoint).objects.update(enabled=False, disabled_at=event.created_at)

    assert "1 left alone. Its endpoint is disabled" in confirm(operator, asked).content.decode()
    assert cycles() == [1]


@pytest.mark.parametrize("events", [[], ["x"], ["x:1:FAILED:0"]])
def test_ticked__nothing_readable__says_so(operator, events):
    page = operator.post(TICKED, {"event": events, "confirmed": "yes", "reason": "x"}, follow=True)

    assert page.redirect_chain == [(LIST, 302)]
    assert "Nothing was done" in page.content.decode()


@pytest.mark.parametrize("back", ["https://evil.example/", "a=b\r\nX: y"])
def test_ticked__back_to_elsewhere__stays_with_the_list(operator, back):
    answer = operator.post(TICKED, {"back": back})

    assert answer["Location"].split("?")[0] == LIST


def test_preview__filter__counts_exactly_shows_ten_and_changes_nothing(operator):
    endpoint = an_endpoint()
    some_events(endpoint, 12, status=FAILED)
    an_event(endpoint, status=EventStatus.DELIVERED)
    an_event(an_endpoint(enabled=False), status=FAILED)
    before = list(WebhookEvent.objects.order_by("pk").values())

    answer = look(operator)
    any_finished = words_of(look(operator, status="finished").content)

    page = words_of(answer.content)
    assert answer.context["preview"].count.total == 13
    assert "Redeliver 12 webhook events" in page
    assert "1 is left alone: its endpoint is disabled" in page
    assert len(answer.context["sample"]) == 10
    assert "1 of these was delivered already" in any_finished
    assert list(WebhookEvent.objects.order_by("pk").values()) == before
    assert not BulkAct.objects.exists()


def test_preview__nothing_failed_but_some_wait__says_how_many_and_leads_to_them(operator):
    endpoint = an_endpoint()
    some_events(endpoint, 3, due_at=database_now() + timedelta(hours=2))
    an_event(an_endpoint(), due_at=database_now() + timedelta(hours=2))

    page = look(operator, endpoint=str(endpoint.pk)).content.decode()

    assert "Nothing that is FAILED matches. 3 wait for their next try" in words_of(page.encode())
    [link] = [html.unescape(a) for a in re.findall(r'href="([^"]*status=PENDING[^"]*)"', page)]
    seen = operator.get(link)
    assert "Redeliver 3 webhook events" in words_of(seen.content)
    assert seen.context["preview"].selection.endpoint_id == endpoint.pk
    other = look(operator, error_code="none").content.decode()
    assert "Nothing matches. Perhaps" in words_of(other.encode())


def test_preview__nothing_asked_for__shows_the_form_alone(operator):
    an_event(status=FAILED)

    assert "confirmation" not in operator.get(PREVIEW).content.decode()


@pytest.mark.parametrize(
    ("query", "field"),
    [({"status": "PROCESSING"}, "status"), ({"endpoint": "x"}, "endpoint"), ({"after": "soon"}, "after")],
)
def test_preview__wrong_value__is_told_at_its_field(operator, query, field):
    answer = look(operator, **query)

    assert list(answer.context["errors"]) == [field]
    assert f'id="error_{field}"' in answer.content.decode()
    assert "confirmation" not in answer.content.decode()


def test_begin__confirmed__is_one_act_however_often_it_is_sent_and_is_worked_off(operator):
    endpoint = an_endpoint("https://hooks.example/x")
    some_events(endpoint, 3, status=FAILED)
    answer, tab = (look(operator, endpoint=str(endpoint.pk)) for _ in range(2))

    pages = [begin(operator, each, rate="250").url for each in (answer, answer, tab)]

    act = BulkAct.objects.get()
    assert set(pages) == {reverse("admin:bulk-act", args=[act.pk])}
    assert (act.action, act.previewed_count, act.rate_per_second, act.actor) == ("REDELIVER", 3, 250, "ops")
    let_pass(act, 1.0)
    assert queue.work_off(2.0) == 3
    progress = words_of(operator.get(pages[0]).content)
    assert re.search(r'<progress [^>]*max="3" value="3"', progress)
    assert "hooks.example" in progress
    assert "own page has its record, with this act" in progress
    assert begin(operator, answer).url == pages[0]  # also when it is over
    assert cycles() == [2, 2, 2]
    shown = words_of(
        operator.get(reverse("admin:webhooks_webhookevent_change", args=[WebhookEvent.objects.first().pk])).content
    )
    assert "their server is back" in shown
    assert str(act.pk) in shown


def test_begin__reason_is_missing__asks_again_with_the_same_form(operator):
    an_event(status=FAILED)
    answer = look(operator)

    again = begin(operator, answer, reason=" ")

    assert list(again.context["errors"]) == ["reason"]
    assert not BulkAct.objects.exists()
    begin(operator, again)
    begin(operator, answer)
    assert BulkAct.objects.count() == 1


def test_begin__filter_was_changed_and_not_looked_at__does_nothing_and_shows_what_it_matches(operator):
    endpoint = an_endpoint()
    some_events(endpoint, 2, status=FAILED)
    an_event(status=FAILED)

    answer = begin(operator, look(operator), endpoint=str(endpoint.pk))

    assert "Nothing was done: the filter was changed" in words_of(answer.content)
    assert "Redeliver 2 webhook events" in words_of(answer.content)
    assert not BulkAct.objects.exists()
    begin(operator, answer)
    assert BulkAct.objects.get().selection["endpoint_id"] == str(endpoint.pk)


def test_begin__form_of_another_kind_of_act__does_nothing(operator):
    other = operator.get(reverse("admin:bulk-preview"), {"act": "cancel"})
    form = hidden(other.content.decode(), "confirmation") or ["x"]

    page = operator.post(BEGIN, {"confirmation": form[0], "reason": "x"}, follow=True)

    assert "nothing was done" in page.content.decode()
    assert not BulkAct.objects.exists()


@pytest.mark.parametrize("address", [TICKED, BEGIN])
def test_acts__by_get__are_refused_and_change_nothing(operator, address):
    event = an_event(status=FAILED)

    answer = operator.get(address, {"event": f"{event.pk}:1:FAILED:0", "confirmed": "yes", "reason": "x"})

    assert answer.status_code == 405
    assert cycles() == [1]


@pytest.mark.parametrize(("address", "method"), [(TICKED, "post"), (PREVIEW, "get"), (BEGIN, "post")])
def test_pages__by_role__are_for_those_who_may_redeliver(client, address, method):
    event = an_event(status=FAILED)
    form = {"event": f"{event.pk}:1:FAILED:0", "confirmed": "yes", "reason": "x"}

    assert "/admin/login/" in getattr(client, method)(address, form)["Location"]
    assert getattr(person(Role.VIEWER), method)(address, form).status_code == 403
    client.force_login(User.objects.create(username="nobody", is_staff=True))
    assert getattr(client, method)(address, form).status_code == 403
    assert cycles() == [1]
    for role in (Role.OPERATOR, Role.ADMINISTRATOR):
        assert getattr(person(role), method)(address, form).status_code in (200, 302)


@pytest.mark.parametrize("name", ["stop", "resume"])
@pytest.mark.parametrize(("codename", "code"), [("operate_notification", 403), ("operate_webhookevent", 302)])
def test_stop_and_resume__of_a_redelivery__are_for_those_who_may_redeliver(operator, client, name, codename, code):
    an_event(status=FAILED)
    begin(operator, look(operator))
    act = BulkAct.objects.get()
    user = User.objects.create(username="half", is_staff=True)
    user.user_permissions.add(*Permission.objects.filter(codename__in=("view_bulkact", codename)))
    client.force_login(user)

    assert client.post(reverse(f"admin:bulk-{name}", args=[act.pk])).status_code == code
    stopped = code == 302 and name == "stop"
    assert BulkAct.objects.get().status == (BulkStatus.STOPPED if stopped else BulkStatus.RUNNING)


def test_pages__their_queries__are_few(operator, django_assert_max_num_queries):
    endpoint = an_endpoint()
    events = some_events(endpoint, 12, status=FAILED)

    with django_assert_max_num_queries(20):
        answer = look(operator, endpoint=str(endpoint.pk))
    page = begin(operator, answer).url
    with django_assert_max_num_queries(8):
        operator.get(page)
    with django_assert_max_num_queries(6):
        ask(operator, events)


def test_event__of_a_stranger__shows_hostile_text_as_text(operator):
    evil = "<script>alert(1)</script>"
    event = an_event(status=FAILED, last_error_code=evil, type=evil)

    for page in (operator.get(LIST), look(operator), ask(operator, [event])):
        assert "<script>alert" not in page.content.decode()
    assert reloaded(event).cycle == 1
