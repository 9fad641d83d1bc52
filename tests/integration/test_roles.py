"""The three roles of the console, as the migrations leave them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission

from notifyq import roles
from notifyq.roles import Role

pytestmark = pytest.mark.django_db


def names_of(role: Role) -> set[str]:
    group = Group.objects.get(name=role.value)
    return {f"{p.content_type.app_label}.{p.codename}" for p in group.permissions.select_related("content_type")}


def test_roles__after_the_migrations__each_has_all_that_the_rule_gives_it() -> None:
    """Fails when a permission was added without a migration that gives it to the roles."""
    existing = Permission.objects.select_related("content_type")
    for role in Role:
        wanted = {
            f"{p.content_type.app_label}.{p.codename}"
            for p in existing
            if roles.may(role, p.content_type.app_label, p.codename)
        }
        assert names_of(role) == wanted


def test_roles__each_includes_the_one_before() -> None:
    assert names_of(Role.VIEWER) < names_of(Role.OPERATOR) < names_of(Role.ADMINISTRATOR)


def test_viewer__may_act_on_nothing_and_see_nothing_private() -> None:
    assert all(name.partition(".")[2].startswith("view_") for name in names_of(Role.VIEWER))
    assert roles.SEE_PRIVATE not in names_of(Role.VIEWER)


@pytest.mark.parametrize(
    "name",
    [
        roles.OPERATE,
        roles.SEE_PRIVATE,
        "webhooks.operate_webhookevent",
        "notifications.add_pause",
        "notifications.change_pause",
        "ratelimits.change_ratelimitrule",
    ],
)
def test_operator__may_act(name: str) -> None:
    assert name in names_of(Role.OPERATOR)


@pytest.mark.parametrize("name", ["notifications.add_apikey", "notifications.change_client", "auth.add_user"])
def test_operator__makes_no_keys_clients_or_logins(name: str) -> None:
    assert name not in names_of(Role.OPERATOR)
    assert name in names_of(Role.ADMINISTRATOR)


def test_provide__again__changes_nothing_and_keeps_what_was_added() -> None:
    viewer = Group.objects.get(name=Role.VIEWER.value)
    extra = Permission.objects.get(codename="add_pause")
    viewer.permissions.add(extra)
    before = names_of(Role.VIEWER)
    roles.provide(Group, Permission)
    assert names_of(Role.VIEWER) == before
