"""People of the console, each with one of its roles."""

from __future__ import annotations

from html.parser import HTMLParser

from django.contrib.auth.models import Group, User
from django.test import Client

from notifyq.roles import Role


def person(role: Role, name: str = "") -> Client:
    """A browser in which somebody with that role is logged in. Without a password: hashing one takes longer than a
    test."""
    user = User.objects.create(username=name or role.value, is_staff=True)
    user.groups.add(Group.objects.get(name=role.value))
    browser = Client()
    browser.force_login(user)
    return browser


class _Fields(HTMLParser):
    """What a browser would send of a form that nobody has touched."""

    def __init__(self, selector: str) -> None:
        super().__init__()
        self.selector, self.inside = selector, False
        self.found: dict[str, str] = {}
        self.select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form":
            self.inside = self.selector in given
        elif self.inside and tag == "select":
            self.select = name
        elif self.inside and tag == "option" and self.select and (self.select not in self.found or "selected" in given):
            self.found[self.select] = value
        elif self.inside and tag == "input" and (given.get("type") != "checkbox" or "checked" in given):
            self.found[name] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self.select = None
        elif tag == "form":
            self.inside = False


def fields_of(page: bytes, marked: str) -> dict[str, str]:
    """What the form with that attribute sends as it stands on the page, by name."""
    fields = _Fields(marked)
    fields.feed(page.decode())
    return fields.found


def words_of(page: bytes) -> str:
    """The page's source on one line, so that a sentence is found however it is wrapped."""
    return " ".join(page.decode().split())
