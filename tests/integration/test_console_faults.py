"""What goes wrong in the console looks like the console, and leads back."""

from __future__ import annotations

import logging

import pytest
from django.test import Client, RequestFactory

from notifyq.rest import handlers
from notifyq.roles import Role
from tests.support.console import person, words_of

pytestmark = pytest.mark.django_db
BACK = '<a href="/admin/">To the overview</a>'
LIST = "/admin/notifications/notification/"


@pytest.mark.parametrize(
    ("address", "status", "title"),
    [
        ("/admin/nothing/", 404, "There is no such page"),
        ("/admin/notifications/client/add/", 403, "Not allowed"),
        ("/admin/bulk/begin/", 403, "Not allowed"),
    ],
)
def test_page__that_cannot_be_shown__says_why_and_leads_back(address: str, status: int, title: str) -> None:
    answer = person(Role.VIEWER).get(address)

    page = words_of(answer.content)
    assert (answer.status_code, f"<h1>{title}</h1>" in page, BACK in page) == (status, True, True)
    assert "console.css" in page
    assert "Django" not in page


def test_page__after_a_fault_of_ours__is_shown_without_asking_anything() -> None:
    answer = handlers.server_error(RequestFactory().get("/admin/"))

    assert answer.status_code == 500
    assert BACK in words_of(answer.content)


def test_form__without_its_token__is_told_to_be_out_of_date() -> None:
    browser = Client(enforce_csrf_checks=True)

    answer = browser.post("/admin/login/", {"username": "x", "password": "y"})

    assert answer.status_code == 403
    assert "The form is out of date" in words_of(answer.content)


@pytest.mark.parametrize("query", ["nonsense=1", "client__api_keys__key_hash=x", "channel__exact__x=1"])
def test_filter__that_was_made_up__is_told_and_is_no_error(query: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    answer = person(Role.VIEWER).get(f"{LIST}?{query}", follow=True)

    assert answer.redirect_chain == [(f"{LIST}?e=1", 302)]
    assert answer.status_code == 200
    assert "This page cannot be filtered by that" in words_of(answer.content)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == ["lookup_refused"]
