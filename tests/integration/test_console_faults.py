"""What goes wrong in the console looks like the console, and leads back."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client, RequestFactory

from notifyq.rest import handlers
from notifyq.roles import Role
from ratelimits.models import RateLimitRule
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


def test_page__that_is_not_allowed__keeps_the_bar_and_the_way_out() -> None:
    page = words_of(person(Role.VIEWER).get("/admin/notifications/client/add/").content)
    assert 'class="nq-bar"' in page
    assert "Log out" in page


def test_bar__on_every_list__names_one_page_as_current(admin_client: Client) -> None:
    for model in admin.site._registry:
        answer = admin_client.get(f"/admin/{model._meta.app_label}/{model._meta.model_name}/", follow=True)
        current = [link["label"] for link in answer.context["console_bar"] if link["is_current"]]
        assert len(current) == 1, (model, current)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("pause/", "Nothing is paused: everything that is due is sent."),
        ("operatoraction/", "Nobody has acted on a notification yet"),
        ("controlact/", "Nobody has tripped or reset a provider"),
        ("worker/", "There are none."),
        ("notification/?status=SENT", "Nothing matches the filter."),
        ("notification/?q=01890000-0000-7000-8000-000000000001", "What can be searched for: Exactly an id, recipient"),
    ],
)
def test_list__without_a_row__says_so_and_what_to_do_instead_of_showing_acts(
    admin_client: Client, address: str, told: str
) -> None:
    page = words_of(admin_client.get(f"/admin/notifications/{address}").content)
    assert told in page
    assert "0 of 0 selected" not in page
    assert ("Show all" in page) == ("?" in address)


@pytest.mark.parametrize(("count", "told"), [(10, "at most 10 to one recipient"), (0, "no limit")])
def test_limits__with_rules_or_without__tell_the_default(
    admin_client: Client, settings: Any, count: int, told: str
) -> None:
    settings.NOTIFYQ = replace(settings.NOTIFYQ, rate_limit_count=count, rate_limit_window_seconds=3600.0)
    pages = [words_of(admin_client.get("/admin/ratelimits/ratelimitrule/").content)]
    RateLimitRule.objects.create(channel="SMS", limit_count=5)
    pages.append(words_of(admin_client.get("/admin/ratelimits/ratelimitrule/").content))
    assert [f"The default, where no rule says otherwise: {told}" in page for page in pages] == [True, True]
    assert ["in any 3,600 seconds" in page for page in pages] == [count > 0] * 2


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
