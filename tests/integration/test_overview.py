"""The front page of the console."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import DatabaseError
from django.test import Client

from notifications.models import BulkAct, OutcomeTally, Pause, Worker
from notifications.status import Status
from notifyq.overview.charts import HEIGHT, SPANS, WIDTH, chart
from tests.support.bulk import begin as begin_bulk
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 30, 17, tzinfo=UTC)
MOST_QUERIES = 30


@pytest.fixture
def viewer(client: Client, django_user_model) -> Client:
    person = django_user_model.objects.create(username="vera", is_staff=True)
    person.groups.add(Group.objects.get(name="viewer"))
    client.force_login(person)
    return client


def page_of(client: Client, address: str = "/admin/") -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_overview__nothing_there__says_what_to_start(viewer: Client) -> None:
    page = page_of(viewer)
    assert "Nobody is working" in page
    assert "manage.py run_workers" in page


def test_overview__workers__alive_is_told_apart_from_progressing(viewer: Client) -> None:
    common = {"role": "delivery", "host": "h", "pid": 1, "held_count": 3, "started_at": ago(900)}
    Worker.objects.create(id="w1", progressed_at=ago(1), **common)
    Worker.objects.create(id="w2", progressed_at=ago(600), **common)
    Worker.objects.create(id="w3", progressed_at=ago(600), beat_at=ago(500), **common)
    page = page_of(viewer)
    assert [page.count(f">{word}</span>") for word in ("alive", "stuck", "silent")] == [1, 1, 1]


def test_overview__paused__is_said_first(viewer: Client) -> None:
    Pause.objects.create(scope="CHANNEL", value="SMS", created_by="ada", reason="<script>alert(1)</script>")
    page = page_of(viewer)
    assert "Paused: CHANNEL SMS" in page
    assert "<script>alert" not in page


def test_overview__due_and_dead__are_counted(viewer: Client) -> None:
    NotificationFactory(status=Status.PENDING, due_at=ago(300))
    NotificationFactory.create_batch(2, status=Status.DEAD_LETTERED)
    page = page_of(viewer)
    assert "<b>5 min</b><span>oldest due, EMAIL of client-" in page
    assert (
        "<b>2</b><span>dead letters, 2 of them from the last hour <small>those that still are</small></span>"
        in page.replace("> <b", "><b")
    )
    chart = page.partition("<b>dead lettered</b>")[2]
    assert chart.partition("</figcaption>")[0].count("all that became so, also those retried since") == 1


def test_overview__chart__shows_what_was_tallied(viewer: Client) -> None:
    OutcomeTally.objects.create(at=ago(90), status="SENT", channel="EMAIL", count=41)
    OutcomeTally.objects.create(at=ago(3 * 3600), status="SENT", channel="EMAIL", count=1)
    page = page_of(viewer)
    assert "sent, last hour, a bar for each minute: 41 in all" in page
    assert "highest bar 41 in a minute<" in page
    assert "<span>now</span></span></div>" in page
    page = page_of(viewer, "/admin/?span=day")
    assert "sent, last day, a bar for each 15 minutes: 42 in all" in page
    assert "highest bar 41 in 15 minutes<" in page
    assert "last hour" in page_of(viewer, "/admin/?span=no-such")


def test_overview__bulk_acts__are_told_with_their_progress_until_they_are_done(viewer: Client) -> None:
    running, stopped, old, done = (begin_bulk(reference=f"r{n}", rate=100) for n in range(4))
    changes = {"previewed_count": 2000, "done_count": 1500, "created_at": ago(300)}
    BulkAct.objects.filter(pk=running.pk).update(**changes)
    BulkAct.objects.filter(pk=stopped.pk).update(status="STOPPED", action="REDELIVER")
    BulkAct.objects.filter(pk=old.pk).update(status="FAILED", created_at=ago(8 * 86_400))
    BulkAct.objects.filter(pk=done.pk).update(status="DONE", ended_at=ago(1))
    for address in ("/admin/", "/admin/overview/fresh/"):
        page = page_of(viewer, address)
        in_hand = page.partition("Bulk acts in hand")[2]
        links = re.findall(r'<a href="/admin/bulk/([^"/]+)/">([^<]+)</a>', in_hand)
        assert links == [(str(running.pk), "Retry notifications"), (str(stopped.pk), "Redeliver webhook events")]
        assert 'max="2000" value="1500"' in page
        assert "1,500 of 2,000 done" in page
        assert in_hand.count("no worker on it") == 1


def test_overview__no_bulk_act_or_no_permission__says_nothing_of_them(viewer: Client, django_user_model) -> None:
    assert "Bulk acts in hand" not in page_of(viewer)
    begin_bulk()
    assert "Bulk acts in hand" in page_of(viewer)
    user = django_user_model.objects.create(username="half", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_notification"))
    viewer.force_login(user)
    assert "Bulk acts in hand" not in page_of(viewer)


def test_overview__queries__are_bounded(viewer: Client, django_assert_max_num_queries) -> None:
    NotificationFactory.create_batch(20, status=Status.PENDING)
    for number in range(5):
        begin_bulk(reference=f"r{number}")
    with django_assert_max_num_queries(MOST_QUERIES):
        page_of(viewer)


def test_fresh__is_the_same_without_the_frame(viewer: Client) -> None:
    page = page_of(viewer, "/admin/overview/fresh/?span=week")
    assert "last week" in page
    assert "<html" not in page


def test_fresh__without_permission_or_login__is_refused(client: Client, django_user_model) -> None:
    assert client.get("/admin/overview/fresh/").status_code == 302
    client.force_login(django_user_model.objects.create(username="nobody", is_staff=True))
    assert client.get("/admin/overview/fresh/").status_code == 403
    assert "may not see the queue" in page_of(client)


def test_fresh__post__is_refused(viewer: Client) -> None:
    assert viewer.post("/admin/overview/fresh/").status_code == 405


def test_fresh__database_gives_up__the_page_says_so(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_args: object) -> None:
        raise DatabaseError

    monkeypatch.setattr("notifyq.overview.view.read", gives_up)
    assert "The database does not answer" in page_of(viewer, "/admin/overview/fresh/")


@pytest.mark.parametrize("span", SPANS.values(), ids=lambda span: span.name)
def test_span__its_bars__begin_at_whole_steps_and_end_after_now(span) -> None:
    since = span.since(NOW)
    assert since.timestamp() % span.step.total_seconds() == 0
    assert since + span.step * (span.bars - 1) <= NOW < since + span.step * span.bars


def test_chart__counts__become_bars_within_the_box() -> None:
    span = SPANS["hour"]
    since = span.since(NOW)
    drawn = chart(span, since, [(since, 1), (since + timedelta(minutes=59), 1000), (since - timedelta(minutes=1), 5)])
    assert [bar.count for bar in drawn.bars] == [1, 1000]
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH and bar.y + bar.height <= HEIGHT for bar in drawn.bars)
    assert drawn.bars[0].height >= 2
    assert drawn.bars[1].height == HEIGHT
    assert (drawn.total, drawn.top_count) == (1001, 1000)


def test_chart__nothing__is_empty() -> None:
    span = SPANS["hour"]
    assert not chart(span, span.since(NOW), []).bars
