"""What is paused: pausing more, and resuming."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from notifications import selectors, services
from notifications.admin.control_act import HasActs, acts_address
from notifications.errors import InvalidRequest, NotFound
from notifications.models import Control, Pause
from notifyq.console import ReadOnlyAdmin, asks_first, scrubs


class PauseForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checked by the same service as the API's requests."""

    class Meta:
        model = Pause
        fields = ("scope", "value", "reason")
        help_texts = {"value": "The channel, the name of a provider, or the name or id of a client. Empty for ALL."}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return values
        try:
            _, values["value"], _ = services.check_pause(values["scope"], values["value"], values["reason"])
        except InvalidRequest as problem:
            for error in problem.errors:
                self.add_error(error.field, error.message)
        return values


@admin.register(Pause)
class PauseAdmin(HasActs, ReadOnlyAdmin):
    """Only those in force are shown. A row is never changed: it is added, and ended by the action."""

    form = PauseForm
    control = Control.PAUSE
    masks: ClassVar = {"reason": scrubs("reason")}
    list_display = ("scope", "value", "reason", "created_by", "created_at")
    fields = list_display
    actions = ("resume_sending",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pause]:
        return selectors.active_pauses()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"acts_address": acts_address(Control.PAUSE), **(extra_context or {})})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_fields(request, obj) if obj else PauseForm.Meta.fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.add_pause")

    def has_resume_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.change_pause")

    def save_model(self, request: HttpRequest, obj: Pause, form: Any, change: bool) -> None:
        made, _ = services.pause(obj.scope, obj.value, reason=obj.reason, by=str(request.user))
        obj.pk = made.pk

    @admin.action(description="Resume sending", permissions=["resume"])
    @asks_first("Resume", "What they keep back is sent again. What another pause keeps stays where it is.")
    def resume_sending(self, request: HttpRequest, rows: list[Pause], reason: str) -> None:
        for pause in rows:
            try:
                services.resume(pause.pk, reason=reason, by=str(request.user))
            except NotFound:
                continue  # somebody else was quicker
            self.log_change(request, pause, f"resumed: {reason}")
            self.message_user(request, f"{pause} goes on.")
