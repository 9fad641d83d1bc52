"""Who may do what in the console: three roles, kept as Django groups. Pure but for the models it is handed."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.db.models import Model

APPS = ("notifications", "ratelimits", "webhooks")
SEE_PRIVATE = "notifications.see_private"
"""Recipients and contents in the clear; without it they are masked."""
OPERATE = "notifications.operate_notification"
"""Retry, cancel, reschedule, resolve."""
_OPERATORS_EDIT = ("pause", "providerhealth", "ratelimitrule")


class Role(StrEnum):
    """Each includes the ones before it."""

    VIEWER = "viewer"
    """Sees everything but recipients, contents and secrets."""
    OPERATOR = "operator"
    """Sees all, and acts on the queue."""
    ADMINISTRATOR = "administrator"
    """Also makes keys and other people's logins. Clients are made by a command."""


def may(role: Role, app_label: str, codename: str) -> bool:
    """Whether the role includes a permission."""
    verb, _, subject = codename.partition("_")
    if app_label == "auth":
        return role is Role.ADMINISTRATOR and subject in ("user", "group")
    if app_label not in APPS:
        return False
    if verb == "view":
        return True
    if verb in ("operate", "see") or subject in _OPERATORS_EDIT:
        return role is not Role.VIEWER
    return role is Role.ADMINISTRATOR


def provide(group_model: type[Model], permission_model: type[Model]) -> None:
    """Make the groups where they are missing and give each what its role includes; takes nothing away, as an
    installation may have added to them. Safe to repeat.

    Args:
        group_model, permission_model: Django's, as a migration sees them.
    """
    groups: Any = group_model._default_manager
    permissions: list[Any] = list(permission_model._default_manager.select_related("content_type"))
    for role in Role:
        group, _ = groups.get_or_create(name=role.value)
        group.permissions.add(*[p for p in permissions if may(role, p.content_type.app_label, p.codename)])
