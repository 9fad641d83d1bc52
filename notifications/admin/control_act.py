"""Who did what to breakers, pauses and limits."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.functions import Right
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from notifications.admin.filters import DoneFilter, PersonFilter
from notifications.models import Control, ControlAct
from notifications.selectors import client_name_of
from notifyq.console import AdminMixin, ReadOnlyAdmin, instant, scrubs

ID_LENGTH = 36
"""Of a client, where what was acted upon is a client's own: its name then ends with the client's id."""


@admin.register(ControlAct)
class ControlActAdmin(ReadOnlyAdmin):
    """The newest first."""

    masks: ClassVar = {"reason": scrubs("reason")}
    list_display = ("at", "action", "control", "which", "said", "actor", "reason")
    list_filter = ("control", "action", DoneFilter, PersonFilter)
    when_empty = "Nobody has tripped or reset a provider, paused or resumed, or changed a limit yet."
    search_fields = ("name", "actor", "reason")
    search_help_text = "Part of what was acted upon, of a person's name, or of a reason you may read."
    linked_by = ("name",)
    fields: ClassVar = list_display
    readonly_fields = ("at", "which", "said")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ControlAct]:
        rows: QuerySet[ControlAct] = super().get_queryset(request)
        return rows.annotate(value=Right("name", ID_LENGTH)).annotate(client_name=client_name_of("value"))

    @admin.display(description="name")
    def which(self, act: ControlAct) -> SafeString | str:
        """A client by its name: the record holds its id, which cannot be taken by another."""
        found = getattr(act, "client_name", None)
        if act.control == Control.BREAKER or not found:
            return act.name
        return format_html('{}<span title="{}">{}</span>', act.name[:-ID_LENGTH], act.name, found)

    @admin.display(description="said → says")
    def said(self, act: ControlAct) -> str:
        """Of a limit; what is empty was not there."""
        return " → ".join(text or "nothing" for text in (act.before, act.after)) if act.before or act.after else "-"

    @admin.display(description="when")
    def at(self, act: ControlAct) -> SafeString | str:
        return instant(act.created_at)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(
            request, {"title": "Acts on breakers, pauses and limits", **(extra_context or {})}
        )


def acts_address(control: Control, name: str = "") -> str:
    """The list of what was done to one, or to all of the kind."""
    query = {"control__exact": control.value} | ({"name": name} if name else {})
    return f"{reverse('admin:notifications_controlact_changelist')}?{urlencode(query)}"


class HasActs(AdminMixin):
    """For the admin of what people act upon: its history is the record that every act leaves, and not only the
    console's own."""

    control: ClassVar[Control]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Leads to the record."""
        row = self.get_object(request, unquote(object_id))
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return redirect(acts_address(self.control, "" if row is None else getattr(row, "control_name", str(row))))
