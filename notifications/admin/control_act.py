"""Who did what to breakers and pauses."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from notifications.models import Control, ControlAct
from notifyq.console import ReadOnlyAdmin, instant


@admin.register(ControlAct)
class ControlActAdmin(ReadOnlyAdmin):
    """The newest first."""

    list_display = ("at", "action", "control", "name", "actor", "reason")
    list_filter = ("control", "action")
    linked_by = ("name",)
    fields: ClassVar = list_display
    readonly_fields = ("at",)

    @admin.display(description="when")
    def at(self, act: ControlAct) -> SafeString | str:
        return instant(act.created_at)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": "Acts on breakers and pauses", **(extra_context or {})})


def acts_address(control: Control, name: str = "") -> str:
    """The list of what was done to one, or to all of the kind."""
    query = {"control__exact": control.value} | ({"name": name} if name else {})
    return f"{reverse('admin:notifications_controlact_changelist')}?{urlencode(query)}"


class HasActs:
    """For the admin of what people act upon: its history is the record that every act leaves, and not only the
    console's own."""

    control: ClassVar[Control]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Leads to the record."""
        row = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        if not self.has_view_permission(request, row):  # type: ignore[attr-defined]
            raise PermissionDenied
        return redirect(acts_address(self.control, "" if row is None else str(row)))
