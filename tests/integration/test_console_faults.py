"""What goes wrong in the console looks like the console, and leads back."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.test import Client, RequestFactory

from notifyq.rest import handlers
from notifyq.rest.charset import utf_8_only
from notifyq.roles import Role
from notifyq.runtime.logs import CallersMistakes, JsonFormatter
from ratelimits.models import RateLimitRule
from tests.support.console import person, words_of
from tests.support.rivals import Rival

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


@pytest.fixture
def log_lines() -> Iterator[Callable[[], list[dict[str, str]]]]:
    """What came to the log, as it is written."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(CallersMistakes())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)


URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
PART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'


def call(method: str, address: str, kind: str, body: bytes = b"") -> tuple[str, str]:
    """The status and the page, by all of the WSGI application."""
    factory = RequestFactory(headers={"cookie": f"csrftoken={'a' * 32}"})
    environ = factory.generic(method, address, body).environ | {"CONTENT_TYPE": kind}
    status: list[str] = []
    answer = utf_8_only(WSGIHandler())(environ, lambda line, headers: status.append(line))
    return status[0][:3], words_of(b"".join(answer))


@pytest.mark.parametrize("address", ["/", "/admin/login/", "/nowhere"])
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        *((f"{URLENCODED}; charset={name}", b"a=1") for name in ("utf-16", "hex", "idna", "latin-1", "none")),
        *((f"{URLENCODED}; {name}", b"a=1") for name in ("charset*=hex''hex", "x*=none''y")),
        (f"{MULTIPART}; charset=rot13", PART),
    ],
)
def test_form__in_another_charset__is_refused_in_one_line(
    address: str, kind: str, body: bytes, log_lines: Callable[[], list[dict[str, str]]]
) -> None:
    status, page = call("POST", f"{address}?q=%C3%A9", kind, body)

    assert (status, "That cannot be answered" in page) == ("400", True)
    assert [(line["level"], line["event"], "traceback" in line) for line in log_lines()] == [
        ("warning", "form_refused", False)
    ]


@pytest.mark.parametrize("address", ["/", "/admin/login/", "/nowhere"])
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=", "multipart/form-data"])
def test_form__that_cannot_be_taken_apart__is_no_error_of_ours(
    address: str, kind: str, log_lines: Callable[[], list[dict[str, str]]]
) -> None:
    assert call("POST", address, kind, PART)[0] in ("400", "404")
    assert [line for line in log_lines() if line["level"] == "error"] == []


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        *(("POST", f"{URLENCODED}; charset={name}") for name in ("utf-8", "UTF8", "us-ascii")),
        *(("GET", f"text/plain; charset={name}") for name in ("hex", "utf-16", "none")),
    ],
)
def test_page__asked_for_in_any_charset_else__is_shown(method: str, kind: str) -> None:
    status, _ = call(method, "/admin/login/?q=%C3%A9", kind, b"username=ada")

    assert status == ("200" if method == "GET" else "403")  # the token is made up


@pytest.mark.parametrize(("name", "agent"), [("x" * 256, ""), ("x" * 100_000, ""), ("x", "y" * 3_000)])
def test_login__with_a_name_longer_than_any__is_told_as_a_wrong_one(name: str, agent: str) -> None:
    answer = Client(raise_request_exception=False).post(
        "/admin/login/", {"username": name, "password": "y"}, headers={"user-agent": agent}
    )

    assert answer.status_code == 200
    assert "Please enter the correct username and password" in words_of(answer.content)


def test_login__without_a_page_to_go_to__leads_to_the_console() -> None:
    person(Role.VIEWER, "ann")
    user = User.objects.get(username="ann")
    user.set_password("right")
    user.save()

    answer = Client().post("/admin/login/?next=//evil.example", {"username": "ann", "password": "right"})

    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


@pytest.mark.parametrize("what", ["host", "fields", "body"])
def test_request__that_is_refused_by_a_check_of_django__is_one_warning(
    what: str, settings, log_lines: Callable[[], list[dict[str, str]]]
) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10, 1_000
    form = {"body": {"a": "x" * 2_000}, "fields": dict.fromkeys("abcdefghijklmn", "1")}.get(what, {"a": "1"})
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.cookies["csrftoken"] = "a" * 32
    host = "h" * 3_000 + ".example" if what == "host" else "testserver"

    answer = browser.post("/admin/login/", "&".join(f"{k}={v}" for k, v in form.items()), URLENCODED, HTTP_HOST=host)

    assert answer.status_code == 400
    [line] = [line for line in log_lines() if line["logger"].startswith("django.security")]
    assert (line["level"], "traceback" in line) == ("warning", False)
    assert len(line["event"]) <= 200


def test_search__longer_than_an_address_can_be__is_told(log_lines: Callable[[], list[dict[str, str]]]) -> None:
    answer = person(Role.VIEWER).post(LIST, {"_search": "1", "reference": "x" * 20_000}, follow=True)

    assert answer.redirect_chain == [(LIST, 302)]
    assert "what was typed is too long" in words_of(answer.content)
    assert log_lines() == []


@pytest.mark.django_db(transaction=True)
def test_group__stored_by_two_at_once__is_the_error_of_the_second_form() -> None:
    browser = person(Role.ADMINISTRATOR)
    with transaction.atomic():
        Group.objects.create(name="twins")
        rival = Rival(lambda: browser.post("/admin/auth/group/add/", {"name": "twins"})).start()
        rival.wait_until_blocked_by_me()

    answer = rival.result()

    assert answer.status_code == 200
    assert "Group with this Name already exists" in words_of(answer.content)
