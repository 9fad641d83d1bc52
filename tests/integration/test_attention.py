"""The front page's block of what needs attention: what, why, since when, whose, and one link to where to act."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils.html import strip_tags

from notifications import queue, services
from notifications.breaker import BreakerRule, Calls
from notifications.channel import Channel
from notifications.models import ActorKind, BulkAct, LookUp, Pause, ProviderHealth, Receipt, Worker
from notifications.models import Client as Shop
from notifications.receipts import DeliveryStatus
from notifications.status import Status
from notifyq.overview import figures
from notifyq.roles import Role
from tests.support.bulk import begin as begin_bulk
from tests.support.console import person
from tests.support.factories import ClientFactory, NotificationFactory, ago
from tests.support.webhook_rows import an_endpoint, an_event, some_events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("chains")]
QUERIES_MOST = 32


@pytest.fixture
def viewer() -> Client:
    return person(Role.VIEWER)


def page_of(browser: Client, address: str = "/admin/") -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def words(source: str) -> str:
    return html.unescape(" ".join(strip_tags(source).split()))


def told(browser: Client) -> list[tuple[str, str]]:
    """Each line in words, with its link."""
    figures._collector.forget()
    block = page_of(browser).partition('<section class="nq-attention')[2].partition("</section>")[0]
    lines = re.findall(r"<li[^>]*>(.*?)</li>", block, re.DOTALL)
    return [(words(line), "".join(re.findall(r'href="([^"]+)"', line))) for line in lines]


def only(browser: Client) -> tuple[str, str]:
    (line,) = told(browser)
    return line


def alive(role: str = "delivery", **columns: object) -> None:
    Worker.objects.create(**{"id": f"w-{role}", "role": role, "host": "h", "pid": 1} | columns)


def fails(channel: Channel, provider: str) -> None:
    calls = Calls(0, failures=1, opens=True, error_code="http_401", error_message="no such key")
    queue.record_calls((channel, provider), calls, BreakerRule())


def test_attention__nothing__is_one_quiet_line(viewer: Client) -> None:
    alive()
    NotificationFactory()
    assert told(viewer) == []
    assert "What needs attention Nothing." in words(page_of(viewer))


@pytest.mark.parametrize("others", [(), ("webhooks", "quarantine")])
def test_attention__due_and_no_delivery_worker__says_so_first(viewer: Client, others: Sequence[str]) -> None:
    for role in others:
        alive(role)
    NotificationFactory(due_at=ago(9))
    line, link = only(viewer)
    assert line.startswith("No delivery worker is alive")
    assert "None is known. Start manage.py run_workers." in line
    assert link == "/admin/notifications/worker/"


def test_attention__delivery_workers_are_stopped__says_when_they_were_heard_of(viewer: Client) -> None:
    alive(beat_at=ago(8))
    NotificationFactory(due_at=ago(9))
    lines = [line for line, _ in told(viewer)]
    assert re.search(r"The last was heard of [\d.]+ s ago\.", lines[0])
    assert lines[1].startswith("1 worker late delivery h 1.")


def test_attention__delivery_workers_hold_work_and_finish_none__are_stuck(viewer: Client) -> None:
    alive(held_count=3, started_at=ago(900), busy_since=ago(900))
    NotificationFactory(due_at=ago(9))
    assert told(viewer)[0][0].startswith("Delivery workers are stuck")


def test_attention__due_for_a_moment__is_no_trouble_without_workers(viewer: Client) -> None:
    NotificationFactory(due_at=ago(1))
    assert told(viewer) == []


def test_attention__oldest_due__names_its_client_and_leads_to_it(viewer: Client) -> None:
    alive()
    row = NotificationFactory(client=ClientFactory(name="web shop"), due_at=ago(90))
    NotificationFactory(due_at=ago(70))
    line, link = only(viewer)
    assert "The oldest due waits too long for 90 s: EMAIL of web shop is due since" in line
    assert link == f"/admin/notifications/notification/{row.pk}/change/"


def test_attention__breaker_is_open__says_since_when_why_and_what_is_left(viewer: Client) -> None:
    alive()
    fails(Channel.EMAIL, "a")
    line, link = only(viewer)
    assert line.startswith("a is out of use on EMAIL since")
    assert "last error http_401: no such key." in line
    assert "is left" not in line
    assert link == f"/admin/notifications/providerhealth/{ProviderHealth.objects.get().pk}/change/"

    fails(Channel.EMAIL, "b:x")
    assert all("No provider of EMAIL is left." in line for line, _ in told(viewer))


def test_attention__tripped__says_who_and_why_and_no_older_error(viewer: Client) -> None:
    alive()
    fails(Channel.EMAIL, "a")
    ProviderHealth.objects.update(failing_since=ago(52))
    services.trip_breaker("EMAIL", "a", reason="their status page says so", by="ada")
    line, _ = only(viewer)
    said = r"by ada [\d: -]+ UTC: their status page says so\."
    assert re.search(rf"a is tripped on EMAIL {said} It was out of use before, since", line)
    assert "http_401" not in line
    row = ProviderHealth.objects.get()
    assert re.findall(r'datetime="([^"]+)"', page_of(viewer))[:2] == [
        row.acted_at.isoformat(),
        row.failing_since.isoformat(),
    ]
    assert re.search(f"tripped {said[:-2]}", words(page_of(viewer)).partition("Breaker")[2])


def test_attention__tripped_while_it_worked__says_one_time_only(viewer: Client) -> None:
    alive()
    services.trip_breaker("EMAIL", "a", reason="", by="ada")
    assert "out of use before" not in only(viewer)[0]


def test_attention__one_provider_out_on_several_channels__is_one_line(viewer: Client) -> None:
    alive()
    for channel in (Channel.EMAIL, Channel.SMS):
        fails(channel, "a")
    line, link = only(viewer)
    assert "a is out of use on EMAIL and SMS" in line
    assert link == "/admin/notifications/providerhealth/"


def test_attention__pauses__say_who_why_and_whose(viewer: Client) -> None:
    alive()
    shop = ClientFactory(name="web shop")
    Pause.objects.create(scope="CLIENT", value=str(shop.pk), created_by="ada", reason="<b>they asked")
    line, link = only(viewer)
    assert line.startswith("Paused: CLIENT web shop by ada since")
    assert "they asked" in line
    assert link == "/admin/notifications/pause/"


def test_attention__pause__says_how_many_wait_for_its_end_and_whose(viewer: Client) -> None:
    alive()
    shop = ClientFactory(name="web shop")
    whole = Pause.objects.create(scope="CHANNEL", value="EMAIL", created_by="ada")
    own = Pause.objects.create(scope="CLIENT", value=str(shop.pk), created_by="ada", reason="they asked")
    common = {"due_at": ago(900), "waiting_reason": "PAUSED"}
    NotificationFactory.create_batch(3, client=shop, parked_by=whole.parking_id, **common)
    NotificationFactory(parked_by=whole.parking_id, **common)
    NotificationFactory.create_batch(2, client=shop, parked_by=own.parking_id, **common)
    (all_told, _), (own_told, _) = told(viewer)
    assert re.search(r"UTC\. 4 due wait for its end, of web shop and 1 other client\. ", all_told)
    assert "they asked. 2 due wait for its end. " in own_told
    assert "oldest due but 6 wait behind pauses" in words(page_of(viewer))


@pytest.mark.parametrize(
    ("status", "noun", "kind"), [(Status.DEAD_LETTERED, "dead letter", "dead"), (Status.FAILED, "failure", "failed")]
)
def test_attention__ended_undelivered__tells_cause_since_and_whose(
    viewer: Client, status: Status, noun: str, kind: str
) -> None:
    alive()
    shop = ClientFactory(name="web shop")
    common = {"status": status, "client": shop}
    NotificationFactory.create_batch(3, last_error_code="http_503", finished_at=ago(600), **common)
    NotificationFactory(status=status, last_error_code="http_400")
    NotificationFactory(last_error_code="old", finished_at=ago(4000), **common)
    line, link = only(viewer)
    assert line.startswith(f"4 {noun}s in the last hour since")
    assert "3 http_503 through sandbox (EMAIL), of web shop and 1 other client." in line
    assert link.startswith(f"/admin/dead-letters/list/?kind={kind}&amp;after=20")
    listed = viewer.get(link.replace("&amp;", "&")).content.decode()
    assert listed.count("http_503") >= 3
    assert "old</" not in listed


def test_attention__marked_by_operators__is_no_alarm(viewer: Client) -> None:
    alive()
    NotificationFactory.create_batch(3, status=Status.FAILED, last_error_code="not_delivered")
    assert told(viewer) == []
    NotificationFactory(status=Status.FAILED, last_error_code="http_400")
    assert only(viewer)[0].startswith("1 failure in the last hour")


@pytest.mark.parametrize(
    ("role", "code", "action"),
    [
        (Role.VIEWER, "http_503", "Look"),
        (Role.OPERATOR, "http_503", "Look and retry"),
        (Role.OPERATOR, "UNCONFIRMED", "Look and mark"),
    ],
)
def test_attention__ended_undelivered__asks_for_what_fits_and_is_allowed(role: Role, code: str, action: str) -> None:
    alive()
    NotificationFactory(status=Status.DEAD_LETTERED, last_error_code=code)
    assert only(person(role, "somebody"))[0].endswith(f"of {Shop.objects.get().name}. {action}")


@pytest.mark.parametrize("asked", [False, True])
def test_attention__unconfirmed_for_long__tells_how_many_since_whose_and_what_was_said(
    viewer: Client, asked: bool
) -> None:
    alive()
    doubted = {"status": Status.RECONCILING, "client": ClientFactory(name="web shop")}
    NotificationFactory(**doubted, unconfirmed_at=ago(200))
    assert told(viewer) == []
    oldest, *_ = (NotificationFactory(**doubted, unconfirmed_at=ago(age)) for age in (900, 800, 301))
    if asked:
        common = {"cycle": 1, "provider": "sandbox", "found": "UNKNOWN", "asked_count": 9, "first_asked_at": ago(800)}
        LookUp.objects.create(notification=oldest, error_code="http_503", last_asked_at=ago(700), **common)
        LookUp.objects.create(notification=oldest, error_code="http_404", last_asked_at=ago(60), **common)
    line, link = only(viewer)
    assert line.startswith("3 unconfirmed through sandbox for long the oldest since")
    said = "of the oldest it said UNKNOWN: http_404." if asked else "it was not asked yet what became of them."
    assert f"(EMAIL), of web shop; {said}" in line
    assert link == "/admin/notifications/notification/?status=RECONCILING"


@pytest.mark.django_db(transaction=True)
def test_overview__reconciling__its_tile_has_the_age_of_the_oldest(viewer: Client) -> None:
    NotificationFactory(status=Status.RECONCILING, unconfirmed_at=ago(720))
    figures._collector.forget()
    assert "1reconciling, the oldest for 12 min" in words(page_of(viewer))
    figures._collector.forget()


def test_attention__unconfirmed_at_a_provider_that_settles_slowly__waits_for_two_settlings(
    viewer: Client, settings: Any
) -> None:
    alive()
    settings.NOTIFYQ = replace(settings.NOTIFYQ, provider_chains={Channel.SMS: ("vonage",)})
    common = {"status": Status.RECONCILING, "channel": Channel.SMS, "unconfirmed_provider": "vonage"}
    NotificationFactory(**common, unconfirmed_at=ago(500))
    assert told(viewer) == []
    NotificationFactory(**common, unconfirmed_at=ago(700))
    assert only(viewer)[0].startswith("1 unconfirmed through vonage for long")


def test_attention__one_failure__is_singular_and_has_a_tile(viewer: Client) -> None:
    alive()
    NotificationFactory(status=Status.FAILED)
    assert only(viewer)[0].startswith("1 failure in the last hour since")
    assert "<b>1</b><span>failed in the last hour" in page_of(viewer)


def test_attention__bulk_acts__failed_stopped_or_still__are_told_to_those_who_may_see_them(
    viewer: Client, django_user_model
) -> None:
    alive()
    for status, changes in (
        ("FAILED", {"failure": "DataError"}),
        ("STOPPED", {}),
        ("RUNNING", {"created_at": ago(90)}),
    ):
        act = begin_bulk(reference=status)
        BulkAct.objects.filter(pk=act.pk).update(status=status, **changes)
    lines = " | ".join(line for line, _ in told(viewer))
    assert "The bulk act “Retry notifications” failed begun by ops" in lines
    assert ": DataError" in lines
    assert "The bulk act “Retry notifications” is stopped" in lines
    assert "The bulk act “Retry notifications” stands still" in lines
    half = django_user_model.objects.create(username="half", is_staff=True)
    half.user_permissions.add(Permission.objects.get(codename="view_notification"))
    viewer.force_login(half)
    assert told(viewer) == []


def test_attention__bulk_act_is_stopped__says_by_whom_when_and_when_it_began(viewer: Client) -> None:
    alive()
    act = begin_bulk()
    services.stop_bulk(act.pk, services.Actor(ActorKind.USER, "mia"))
    BulkAct.objects.filter(pk=act.pk).update(created_at=ago(3600))
    stopped, begun = BulkAct.objects.get().history[-1]["at"], BulkAct.objects.get().created_at.isoformat()
    line, _ = only(viewer)
    assert re.search(r"is stopped by mia [\d: -]+ UTC; begun by ops [\d: -]+ UTC, 0", line)
    page = page_of(viewer)
    in_hand = page.partition("Bulk acts in hand")[2].partition("</section>")[0]
    for part in (page, in_hand):
        assert re.findall(r'datetime="([^"]+)"', part)[:2] == [stopped, begun]


def test_attention__without_permission_to_go_there__is_told_without_a_link(viewer: Client, django_user_model) -> None:
    NotificationFactory(due_at=ago(9))
    half = django_user_model.objects.create(username="half", is_staff=True)
    half.user_permissions.add(Permission.objects.get(codename="view_notification"))
    viewer.force_login(half)
    assert only(viewer)[1] == ""


def test_attention__webhook_endpoints_disabled__names_the_latest(viewer: Client) -> None:
    alive()
    gone = {"enabled": False, "disabled_at": ago(60), "disabled_reason": "GONE"}
    some_events(an_endpoint(**gone, client=ClientFactory(name="bank")), 3, status="CANCELLED")
    an_event(an_endpoint(enabled=False), status="CANCELLED")
    line, link = only(viewer)
    assert "1 webhook endpoint disabled by the service the latest of bank, since" in line
    assert "gone. 3 events were cancelled for it" in line
    assert link == "/admin/webhooks/webhookendpoint/?enabled__exact=0"


def test_attention__webhook_endpoint_fails__says_which_whose_why_and_what_waits(viewer: Client) -> None:
    alive()
    place = {"description": "hooks for ada@example.org", "client": ClientFactory(name="bank")}
    endpoint = an_endpoint("https://hooks.example/secret-path", failing_since=ago(3600), **place)
    some_events(endpoint, 2, due_at=ago(-600), attempt_count=3, last_error_code="http_500", last_response_status=500)
    an_event(endpoint)
    an_endpoint(failing_since=ago(10))
    line, link = only(viewer)
    assert line.startswith("A webhook endpoint is failing hooks for a…@example.org of bank, since")
    assert "last answer http_500. 3 events wait for it. If nothing gets through until" in line
    assert "secret-path" not in line
    assert link == f"/admin/webhooks/webhookendpoint/{endpoint.pk}/change/"


def test_attention__several_webhook_endpoints_fail__is_one_line_with_a_link_to_just_those(viewer: Client) -> None:
    alive()
    failing = {an_endpoint(f"https://{n}.example/", failing_since=ago(600 - n)).pk for n in range(3)}
    an_endpoint()
    line, link = only(viewer)
    assert line.startswith("3 webhook endpoints are failing for longest: 0.example of ")
    assert "No event waits for them." in line
    assert {row.pk for row in viewer.get(link).context["cl"].result_list} == failing


def test_attention__receipts_not_credited_or_without_notification__are_counted(viewer: Client) -> None:
    alive()
    common = {"provider": "twilio", "status": DeliveryStatus.DELIVERED}
    Receipt.objects.create(event_id="1", credited=False, **common)
    Receipt.objects.create(event_id="2", look_at=ago(-60), received_at=ago(300), **common)
    lines = [line for line, _ in told(viewer)]
    assert lines[0].startswith("1 receipt not credited in the last hour")
    assert lines[1].startswith("1 receipt without a notification")


def test_overview__all_at_once__takes_few_queries(viewer: Client, django_assert_max_num_queries) -> None:
    alive(beat_at=ago(100))
    alive("webhooks")
    for channel in (Channel.EMAIL, Channel.SMS):
        fails(channel, "a")
    for number in range(3):
        NotificationFactory.create_batch(3, status=Status.DEAD_LETTERED)
        NotificationFactory.create_batch(3, status=Status.FAILED)
        NotificationFactory(due_at=ago(900))
        Pause.objects.create(scope="CLIENT", value=str(ClientFactory().pk), created_by="ada")
        begin_bulk(reference=f"r{number}")
        an_endpoint(enabled=False, disabled_at=ago(60), disabled_reason="GONE")
        an_event(an_endpoint(failing_since=ago(90)))
    with django_assert_max_num_queries(QUERIES_MOST):
        assert len(told(viewer)) > 8


@pytest.mark.django_db(transaction=True)
def test_overview__tiles_and_cells__lead_to_the_filtered_list(viewer: Client) -> None:
    NotificationFactory(due_at=ago(-60), priority=0)
    figures._collector.forget()
    page = viewer.get("/admin/").content.decode()
    address = "/admin/notifications/notification/?status=PENDING&amp;channel__exact=EMAIL&amp;priority__exact=0"
    assert address in page
    assert 'href="/admin/notifications/notification/?status=RECONCILING"' in page
    assert "1 notification" in words(page_of(viewer, address.replace("&amp;", "&")))
    figures._collector.forget()
