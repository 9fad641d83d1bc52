"""Who may log in, and as what. Nobody gives, changes or takes over more than they have themselves."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from notifyq.console import Link, add_link

ONLY_SUPERUSERS_SET = ("is_superuser", "user_permissions")

admin.site.unregister([User, Group])


add_link(Link("Users", "admin:auth_user_changelist", "auth.view_user", 120, ("auth/group",)))


class WithinOwn(admin.ModelAdmin):  # type: ignore[type-arg]
    """For the admin of what holds permissions. A superuser may do everything; anybody else leaves alone what holds a
    permission that they lack, and finds no such thing among what they may choose."""

    def is_beyond(self, request: HttpRequest, obj: Any) -> bool:
        """Whether it holds more than this person does."""
        raise NotImplementedError

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and not self._is_closed(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not self._is_closed(request, obj)

    def _is_closed(self, request: HttpRequest, obj: Any) -> bool:
        return obj is not None and not _is_superuser(request) and self.is_beyond(request, obj)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        if field is not None and not _is_superuser(request):
            chosen: Any = field
            chosen.queryset = _within(chosen.queryset, request)
        return field


@admin.register(User)
class PersonAdmin(WithinOwn, UserAdmin):  # type: ignore[type-arg]
    """Roles are given by groups; what groups cannot say, only a superuser says."""

    def is_beyond(self, request: HttpRequest, obj: User) -> bool:
        held = Permission.objects.filter(Q(group__user=obj) | Q(user=obj))  # also while the account is not active
        return obj.is_superuser or _beyond(held, request).exists()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Without the password, which has a button that sets it, where that is refused."""
        found = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return found
        return [(name, {**more, "fields": [f for f in more["fields"] if f != "password"]}) for name, more in found]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        found = super().get_readonly_fields(request, obj)
        return found if _is_superuser(request) else (*found, *ONLY_SUPERUSERS_SET)


@admin.register(Group)
class RoleAdmin(WithinOwn, GroupAdmin):  # type: ignore[misc]
    """What a role includes."""

    def is_beyond(self, request: HttpRequest, obj: Group) -> bool:
        return _beyond(obj.permissions.all(), request).exists()


def _is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)


def _own(request: HttpRequest) -> QuerySet[Any, Any]:
    person = request.user.pk
    return Permission.objects.filter(Q(group__user=person) | Q(user=person)).order_by().values("pk")


def _beyond(permissions: QuerySet[Permission], request: HttpRequest) -> QuerySet[Permission]:
    return permissions.exclude(pk__in=_own(request))


def _within(choices: QuerySet[Any], request: HttpRequest) -> QuerySet[Any]:
    """Of permissions or groups, those that hold nothing beyond what this person has."""
    if choices.model is Permission:
        return choices.filter(pk__in=_own(request))
    return choices.exclude(permissions__in=_beyond(Permission.objects.order_by(), request))
