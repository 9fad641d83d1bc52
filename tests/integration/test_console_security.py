"""What guards the pages that people see: the login, cookies, and what a page may load."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from notifyq.startup import BASE_DIR

pytestmark = pytest.mark.django_db
PAGES = ["/", "/admin/login/", "/api/docs/"]


def policy_of(client: Client, address: str) -> dict[str, str]:
    header = client.get(address).headers["Content-Security-Policy"]
    parts = [part.strip().split(" ", 1) for part in header.split(";") if part.strip()]
    return {name: rest[0] if rest else "" for name, *rest in parts}


@pytest.mark.parametrize("address", PAGES)
def test_page__policy__lets_in_no_script_but_our_own_files(client: Client, address: str) -> None:
    policy = policy_of(client, address)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"


@pytest.mark.parametrize("address", ["/", "/admin/login/"])
def test_page__policy__lets_in_no_style_but_our_own_files(client: Client, address: str) -> None:
    assert policy_of(client, address)["style-src"] == "'self'"


@pytest.mark.parametrize("address", PAGES)
def test_page__its_source__has_no_script_of_its_own(client: Client, address: str) -> None:
    source = client.get(address).content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", source)
    assert not re.search(r"\son[a-z]+\s*=", source)


def test_templates__none_has_script_or_style_in_the_page() -> None:
    """Those of the simulated vendor are served by a process of its own."""
    for file in (BASE_DIR / "templates").rglob("*.html"):
        if file.parent.name == "sandbox":
            continue
        source = file.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=", source), file


def log_in(client: Client, password: str) -> int:
    return client.post(reverse("admin:login"), {"username": "ann", "password": password}).status_code


def test_login__five_wrong_passwords__even_the_right_one_has_to_wait(client: Client) -> None:
    get_user_model().objects.create_superuser("ann", password="right")
    assert [log_in(client, "wrong") for _ in range(5)] == [200, 200, 200, 200, 429]
    assert log_in(client, "right") == 429
    answer = client.post(reverse("admin:login"), {"username": "ann", "password": "right"})
    assert b"15 minutes" in answer.content


def test_login__from_another_address__is_not_held_up_by_the_first(client: Client) -> None:
    """Else anybody could lock out whoever is on call."""
    get_user_model().objects.create_superuser("ann", password="right")
    for _ in range(5):
        log_in(client, "wrong")
    other = Client(REMOTE_ADDR="192.0.2.7")
    assert log_in(other, "right") == 302


def test_login__right_after_some_wrong_ones__the_count_begins_anew(client: Client) -> None:
    get_user_model().objects.create_superuser("ann", password="right")
    for _ in range(2):
        assert [log_in(client, "wrong") for _ in range(4)] == [200] * 4
        assert log_in(client, "right") == 302
        client.logout()
