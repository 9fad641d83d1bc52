"""The console while the database is away."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client as Browser

from notifyq.roles import Role
from tests.support.console import person, words_of

pytestmark = pytest.mark.django_db
LOGIN = {"username": "ann", "password": "secret-9f3"}


@pytest.mark.parametrize("error", [OperationalError("secret-9f3"), InterfaceError("secret-9f3")])
@pytest.mark.parametrize(
    ("method", "address", "form"),
    [
        ("get", "/admin/", {}),
        ("get", "/admin/notifications/notification/", {"status": "SENT"}),
        ("get", "/admin/dead-letters/", {}),
        ("post", "/admin/notifications/pause/", {"action": "resume_sending"}),
        ("post", "/admin/login/", LOGIN),
    ],
)
def test_database_away__any_page__is_a_short_503_and_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: Any, error: Exception, method: str, address: str, form: dict[str, str]
) -> None:
    browser = person(Role.OPERATOR)

    def away(*args: Any, **kwargs: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "cursor", away)
        answer = getattr(browser, method)(address, form)

    page = words_of(answer.content)
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Type"].startswith("text/html")
    assert "The database is away" in page
    assert "Try again" in page
    assert ("whether what you sent was done" in page) is (method == "post")
    assert "9f3" not in page + caplog.text
    noted = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [(record.message, record.exc_info) for record in noted] == [("database_unavailable", None)]


def test_database_back__the_same_page__is_there_again(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = person(Role.OPERATOR)
    with monkeypatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "cursor", lambda *_: (_ for _ in ()).throw(OperationalError()))
        assert browser.get("/admin/").status_code == 503
    assert browser.get("/admin/").status_code == 200


def test_bug__in_a_page__is_no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(raise_request_exception=False)
    monkeypatch.setattr(BaseDatabaseWrapper, "cursor", lambda *_: (_ for _ in ()).throw(ValueError()))
    assert browser.post("/admin/login/", LOGIN).status_code == 500
