"""People of the console, each with one of its roles."""

from __future__ import annotations

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


def words_of(page: bytes) -> str:
    """The page's source on one line, so that a sentence is found however it is wrapped."""
    return " ".join(page.decode().split())
