"""The filters and the search of the console's list of notifications."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.admin import filters, search
from notifications.models import Notification
from notifications.status import Status
from notifyq.console.sealed import seal
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db
LIST = "/admin/notifications/notification/"


@pytest.fixture
def console(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


def shown(browser, **query) -> set[UUID]:
    answer = browser.get(LIST, query, follow=True)
    assert answer.status_code == 200
    return {row.pk for row in answer.context["cl"].result_list}


def add(**columns) -> Notification:
    return NotificationFactory(content=None, **columns)


def made(seconds_ago: float) -> UUID:
    """An id as it was made then."""
    return UUID(int=(int(ago(seconds_ago).timestamp() * 1000) << 80) | (7 << 76) | (2 << 62))


@pytest.mark.parametrize(("span", "count"), [("hour", 1), ("day", 2), ("week", 3), ("year", 4)])
def test_created__in_a_span__keeps_those(console, span, count) -> None:
    rows = [add(id=made(seconds)) for seconds in (3_000, 80_000, 600_000, 700_000)]
    assert shown(console, created=span) == {row.pk for row in rows[:count]}


def test_error_and_provider__exactly__are_kept_with_the_other_filters(console) -> None:
    row = add(last_error_code="timeout", last_used_provider="smtp")
    add(last_error_code="timeout2", last_used_provider="smtp")
    sent = add(status=Status.SENT, last_used_provider="smtp")

    assert shown(console, error_code=" timeout ") == {row.pk}
    assert shown(console, provider="smtp", status="SENT") == {sent.pk}
    assert shown(console, provider="smtp", error_code="timeout") == {row.pk}
    assert len(shown(console, error_code="", provider=" ")) == 3
    assert shown(console, error_code="a\0b") == set()
    page = console.get(LIST, {"error_code": "timeout", "status": "PENDING", "q": "x"}, follow=True).content.decode()
    assert '<input type="hidden" name="status" value="PENDING">' in page
    assert '<input type="hidden" name="q" value="sealed.' in page


def test_error__hostile__is_escaped(console) -> None:
    add(last_error_code="<script>alert(1)</script>")
    for query in ({}, {"error_code": '"><script>alert(1)</script>'}, {"provider": "<script>alert(1)</script>"}):
        assert "<script>alert" not in console.get(LIST, query).content.decode()


def test_error__older_than_the_newest_that_are_looked_at__is_not_found(console, monkeypatch) -> None:
    monkeypatch.setattr(filters, "NEWEST", 2)
    old = add(last_error_code="timeout")
    assert shown(console, error_code="timeout") == {old.pk}
    newer = [add(last_error_code="timeout"), add()]
    assert shown(console, error_code="timeout") == {newer[0].pk}


@pytest.mark.parametrize("label", ["reference", "recipient", "provider_message_id"])
def test_search__of_one_of_many_clients__finds_the_newest(console, monkeypatch, label) -> None:
    monkeypatch.setattr(search, "FOUND_MOST", 2)
    rows = [add(**{label: "ada@example.org"}) for _ in range(3)]
    found = search.find_ids("ada@example.org")
    assert len(found) <= 3
    assert shown(console, q="ada@example.org") <= {row.pk for row in rows}
    assert shown(console, q="ADA@example.org") == (found if label == "recipient" else set())


def test_search__by_id_that_does_not_exist__finds_nothing(console) -> None:
    add()
    assert shown(console, q="01a22cbf-5d05-7797-8b38-3cc29ff8d9c8") == set()


def test_list__due__is_an_instant_in_the_readers_zone(console) -> None:
    add()
    assert '<time class="nq-time" datetime="' in console.get(LIST).content.decode()


def test_list__with_filters__asks_a_few_times(console) -> None:
    for _ in range(5):
        add(last_error_code="timeout")
    with CaptureQueriesContext(connection) as queries:
        shown(console, error_code="timeout", provider="x", created="day", q=seal("y"))
    assert len(queries) <= 26
