"""The console's pages of bulk acts that were begun: who may do what, how far they are, and what they cost."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse

from notifications import queue
from notifications.admin import bulk as pages
from notifications.models import BulkAct, BulkStatus, Worker
from notifyq.roles import Role
from tests.integration.test_bulk_console import LIST, RECIPIENT, address, dead, look
from tests.support.bulk import OPERATOR, begin
from tests.support.console import person
from tests.support.factories import ClientFactory, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator():
    return person(Role.OPERATOR)


@pytest.fixture
def viewer():
    return person(Role.VIEWER)


def test_stop_and_resume__from_the_page__take_hold_and_stand_in_the_history(operator):
    act = begin()

    assert operator.post(address("stop", act)).url == address("act", act)
    assert BulkAct.objects.get().status == BulkStatus.STOPPED
    assert "It was not running" in operator.post(address("stop", act), follow=True).content.decode()
    operator.post(address("resume", act))
    assert BulkAct.objects.get().status == BulkStatus.RUNNING
    page = operator.get(address("act", act)).content.decode()
    assert page.index("begun by") < page.index("stopped by") < page.index("resumed by")


@pytest.mark.parametrize("name", ["begin", "stop", "resume"])
def test_acts__by_get__are_refused_and_change_nothing(operator, name):
    act = begin()

    answer = operator.get(address(name, None if name == "begin" else act))

    assert answer.status_code == 405
    assert BulkAct.objects.values_list("status", flat=True).get() == BulkStatus.RUNNING


@pytest.mark.parametrize(
    ("name", "method", "viewers", "needs_act"),
    [
        ("list", "get", 200, False),
        ("act", "get", 200, True),
        ("act-fresh", "get", 200, True),
        ("preview", "get", 403, False),
        ("begin", "post", 403, False),
        ("stop", "post", 403, True),
        ("resume", "post", 403, True),
    ],
)
def test_pages__by_role__let_viewers_look_and_operators_act(
    client, django_user_model, name, method, viewers, needs_act
):
    place = address(name, begin() if needs_act else None)

    assert getattr(client, method)(place).status_code == 302  # to the login
    assert getattr(person(Role.VIEWER), method)(place).status_code == viewers
    assert BulkAct.objects.filter(status=BulkStatus.RUNNING).count() == needs_act
    assert getattr(person(Role.OPERATOR), method)(place).status_code in (200, 302)
    client.force_login(django_user_model.objects.create(username="nobody", is_staff=True))
    assert getattr(client, method)(place).status_code == 403


def test_viewer__act_on_a_recipient__does_not_see_whose_it_is(viewer):
    act = begin(recipient=RECIPIENT)

    for place in (address("act", act), address("act-fresh", act), LIST):
        page = viewer.get(place).content.decode()
        assert RECIPIENT not in page
        assert "a…@example.org" in page
        assert "<button" not in page.partition('id="content"')[2]


def test_act__unknown__is_404(operator):
    for name, method in (("act", "get"), ("act-fresh", "get"), ("stop", "post"), ("resume", "post")):
        assert getattr(operator, method)(reverse(f"admin:bulk-{name}", args=[uuid4()])).status_code == 404


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "FAILED", "failure": "DataError", "failure_count": 5}, "failed 5 times in a row"),
        ({"worked_at": 300}, "No worker has worked on it for 5 min"),
        ({"previewed_count": 10, "done_count": 4, "status": "DONE", "ended_at": 0}, "6 no longer matched"),
        ({"skipped_count": 7}, "7 match but were left alone"),
    ],
)
def test_progress__trouble__is_told(operator, changes, words):
    act = begin()
    # Seconds ago, counted from here: the list above may be read long before.
    BulkAct.objects.update(**{k: ago(v) if k.endswith("_at") else v for k, v in changes.items()})

    assert words in operator.get(address("act", act)).content.decode()


def test_progress__no_delivery_worker_is_heard_of__says_so_within_a_few_heartbeats(operator):
    act = begin()
    BulkAct.objects.update(created_at=ago(8), previewed_count=6)
    Worker.objects.create(id="d", role="webhooks", host="h", pid=1)

    page = operator.get(address("act", act)).content.decode()
    assert "No worker has worked on it for 8" in page
    assert "none is alive" in page
    assert "to go" not in page
    assert all("no worker on it" in operator.get(place).content.decode() for place in ("/admin/", LIST))

    Worker.objects.create(id="w", role="delivery", host="h", pid=1)
    page = operator.get(address("act", act)).content.decode()
    assert "No worker has worked on it" not in page
    assert "to go" in page


def test_list__many__shows_running_first_and_pages_by_id_in_few_queries(
    operator, monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr(pages, "PER_PAGE", 3)
    shop = ClientFactory()
    running = begin(channel="EMAIL", client_id=shop.pk)
    others = [begin(reference=f"r{n}") for n in range(4)]
    for other in others:
        queue.stop_bulk(other.pk, OPERATOR)

    with django_assert_max_num_queries(10):
        first = operator.get(LIST)
    second = operator.get(LIST, {"before": first.context["next_before"]})

    def shown(answer):
        return [entry["act"].pk for entry in answer.context["acts"]]

    assert shown(first) == [running.pk, *(other.pk for other in others[:0:-1])]
    assert shown(second) == [others[0].pk]
    assert "Nobody has acted" in operator.get(LIST, {"before": str(others[0].pk)}).content.decode()


def test_pages__their_queries__are_few(operator, django_assert_max_num_queries):
    dead(12)
    act = begin()

    with django_assert_max_num_queries(16):
        look(operator)
    for name in ("act", "act-fresh"):
        with django_assert_max_num_queries(6):
            operator.get(address(name, act))
