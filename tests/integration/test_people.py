"""Who may make whom what: nobody gives, changes or takes over more than they have themselves."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client as Browser

from notifyq.roles import Role
from tests.support.console import person

pytestmark = pytest.mark.django_db
PASSWORD = "a-Long-enough-1-for-tests"


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root", password=None)


@pytest.fixture
def otto() -> User:
    return User.objects.create(username="otto", is_staff=True)


@pytest.fixture
def administrator() -> Browser:
    return person(Role.ADMINISTRATOR)


def form_of(user: User, **more: Any) -> dict[str, Any]:
    return {"username": user.username, "is_active": "on", "is_staff": "on", "date_joined_0": "2026-01-01",
            "date_joined_1": "00:00:00", **more}  # fmt: skip


def address(user: User, page: str = "change") -> str:
    return f"/admin/auth/user/{user.pk}/{page}/"


def group(role: Role) -> Group:
    return Group.objects.get(name=role.value)


@pytest.mark.parametrize("whose", ["otto", "administrator"])
def test_administrator__who_ticks_superuser_or_single_permissions__sets_neither(
    administrator: Browser, otto: User, whose: str
) -> None:
    target = User.objects.get(username=whose)
    before = list(target.groups.values_list("pk", flat=True))
    permission = Permission.objects.get(codename="add_user")
    form = form_of(target, is_superuser="on", user_permissions=[permission.pk], first_name="O", groups=before)

    page = administrator.get(address(target)).content.decode()
    answer = administrator.post(address(target), form)

    assert answer.status_code == 302
    target.refresh_from_db()
    assert (target.first_name, target.is_superuser, target.user_permissions.count()) == ("O", False, 0)
    assert 'name="is_superuser"' not in page
    assert 'name="user_permissions"' not in page


@pytest.mark.parametrize("page", ["change", "delete", "password"])
@pytest.mark.parametrize("beyond", ["superuser", "inactive superuser", "group", "permission"])
def test_administrator__at_an_account_that_has_more__may_look_and_do_nothing(
    administrator: Browser, otto: User, page: str, beyond: str
) -> None:
    more = Permission.objects.get(codename="delete_session")
    if beyond == "group":
        wider = Group.objects.create(name="wider")
        wider.permissions.add(more)
        otto.groups.add(wider)
    elif beyond == "permission":
        otto.user_permissions.add(more)
    else:
        User.objects.filter(pk=otto.pk).update(is_superuser=True, is_active=beyond == "superuser")
    otto.refresh_from_db()
    forms = {
        "change": form_of(otto, email="x@example.org"),
        "delete": {"post": "yes"},
        "password": {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD, "set-password": "1"},
    }

    shown = administrator.get(address(otto))
    assert (shown.status_code, "password/" in shown.content.decode().partition('id="content"')[2]) == (200, False)
    assert administrator.post(address(otto, page), forms[page]).status_code == 403
    after = User.objects.get(pk=otto.pk)
    assert (after.email, after.password, after.is_superuser) == ("", otto.password, otto.is_superuser)


def test_administrator__who_deletes_ticked_accounts__deletes_none_where_one_is_a_superuser(
    administrator: Browser, otto: User, root: User
) -> None:
    form = {"action": "delete_selected", "_selected_action": [otto.pk, root.pk], "post": "yes"}
    assert administrator.post("/admin/auth/user/", form).status_code == 403
    assert User.objects.filter(pk__in=[otto.pk, root.pk]).count() == 2


def test_administrator__at_an_account_of_no_more_than_their_own__gives_roles_sets_the_password_and_deletes(
    administrator: Browser, otto: User
) -> None:
    roles = [group(role) for role in Role]
    assert administrator.post(address(otto), form_of(otto, groups=[g.pk for g in roles])).status_code == 302
    assert set(otto.groups.all()) == set(roles)
    words = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD, "set-password": "1"}
    assert administrator.post(address(otto, "password"), words).status_code == 302
    otto.refresh_from_db()
    assert otto.check_password(PASSWORD)
    assert administrator.post(address(otto, "delete"), {"post": "yes"}).status_code == 302
    assert not User.objects.filter(pk=otto.pk).exists()


def test_person__who_may_change_accounts_and_is_an_operator__gives_no_role_beyond_their_own(otto: User) -> None:
    browser = person(Role.OPERATOR)
    needed = Permission.objects.filter(codename__in=["view_user", "change_user"])
    User.objects.get(username=Role.OPERATOR.value).user_permissions.add(*needed)

    refused = browser.post(address(otto), form_of(otto, groups=[group(Role.ADMINISTRATOR).pk]))
    assert (refused.status_code, otto.groups.count()) == (200, 0)
    assert "groups" in refused.context["adminform"].form.errors
    assert browser.post(address(otto), form_of(otto, groups=[group(Role.OPERATOR).pk])).status_code == 302
    assert list(otto.groups.all()) == [group(Role.OPERATOR)]


def test_administrator__who_widens_a_role_beyond_their_own__is_refused(administrator: Browser) -> None:
    viewer, more = group(Role.VIEWER), Permission.objects.get(codename="delete_session")
    answer = administrator.post(
        f"/admin/auth/group/{viewer.pk}/change/", {"name": viewer.name, "permissions": [more.pk]}
    )
    assert answer.status_code == 200
    assert "permissions" in answer.context["adminform"].form.errors
    assert more not in viewer.permissions.all()


def test_superuser__may_all_of_it(admin_client: Browser, otto: User) -> None:
    permission = Permission.objects.get(codename="add_user")
    form = form_of(otto, is_superuser="on", user_permissions=[permission.pk], groups=[group(Role.VIEWER).pk])
    assert admin_client.post(address(otto), form).status_code == 302
    otto.refresh_from_db()
    assert (otto.is_superuser, otto.user_permissions.count(), otto.groups.count()) == (True, 1, 1)
