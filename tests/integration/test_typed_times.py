"""Times that somebody types which no clock shows in UTC: told as such wherever a time is taken, and never an error."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse

from notifications.receipts.making import of_text
from notifications.request.fields import Invalid
from notifications.request.times import parse_instant
from notifications.status import Status
from notifyq.roles import Role
from tests.support.console import person, words_of
from tests.support.factories import NotificationFactory

BEYOND = ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]
EDGES = ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "0999-01-31T08:00:00"]


@pytest.fixture
def operator() -> Browser:
    return person(Role.OPERATOR)


@pytest.mark.parametrize("text", BEYOND)
def test_typed_time__beyond_what_utc_has__is_none(text: str) -> None:
    assert of_text(text) is None
    with pytest.raises(Invalid, match="must be a time that exists"):
        parse_instant(text)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["after", "before"])
@pytest.mark.parametrize("text", [*BEYOND, "2026-02-30T00:00:00"])
def test_dead_letters__ended_at_no_such_time__says_so(operator: Browser, name: str, text: str) -> None:
    NotificationFactory(status=Status.DEAD_LETTERED, content=None)
    answer = operator.get("/admin/dead-letters/list/", {name: text})
    assert answer.status_code == 200
    assert answer.context["rows"] == []
    assert re.search("There is no such time|Enter a valid date/time", words_of(answer.content))


@pytest.mark.django_db
@pytest.mark.parametrize("text", EDGES)
def test_dead_letters__ended_at_the_edge_of_time__is_a_filter(operator: Browser, text: str) -> None:
    for name in ("after", "before"):
        answer = operator.get("/admin/dead-letters/list/", {name: text})
        assert answer.status_code == 200
        assert f'value="{text.removesuffix("Z")}"' in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("text", [*BEYOND, *EDGES])
def test_bulk_preview__of_any_window__is_a_page(operator: Browser, text: str) -> None:
    pages: list[Any] = [
        operator.get(reverse(f"admin:{page}"), {"act": "retry", "status": "FAILED", name: text})
        for page in ("bulk-preview", "webhook-redeliver-preview")
        for name in ("after", "before", "send_at")
    ]
    assert [page.status_code for page in pages] == [200] * len(pages)


@pytest.mark.django_db
@pytest.mark.parametrize("text", BEYOND)
def test_reschedule__to_no_such_time__is_told(operator: Browser, text: str) -> None:
    row = NotificationFactory()
    page = operator.get(f"/admin/notifications/notification/{row.pk}/change/").content.decode()
    seen = re.search(r'name="seen" value="(\d+)"', page)
    act = re.search(r'action="([^"]*reschedule[^"]*)"', page)
    assert seen
    assert act
    answer = operator.post(act[1], {"at": text, "reason": "x", "seen": seen[1]}, follow=True)
    assert answer.status_code == 200
    assert "“At” must be a date and a time" in words_of(answer.content)
