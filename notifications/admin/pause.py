"""What is paused: pausing more, and resuming."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications import selectors, services
from notifications.admin.control_act import HasActs, acts_address
from notifications.errors import InvalidRequest, NotFound
from notifications.models import Control, Pause
from notifications.story.said import Said
from notifyq.console import ReadOnlyAdmin, asks_first, instant, reason_field, scrubs, tell


def already(present: Pause) -> SafeString:
    """What somebody is told who pauses it once more. The reason typed is not kept: the first one stands."""
    return format_html(
        "Nothing was done. {} is paused already, by {} since {}{}. To change the reason, resume it and pause it anew.",
        *(present, present.created_by, instant(present.created_at), _why(present)),
    )


def _why(pause: Pause) -> str:
    return f": {pause.reason}" if pause.reason else ", without a reason"


def _standing(pause: Pause) -> Said:
    return (f"by {pause.created_by} since ", pause.created_at, _why(pause))


class PauseForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checked by the same service as the API's requests, which may leave out the reason."""

    reason = reason_field()

    class Meta:
        model = Pause
        fields = ("scope", "value", "reason")
        help_texts = {"value": "The channel, the name of a provider, or the name or id of a client. Empty for ALL."}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return values
        try:
            scope, values["value"], _ = services.check_pause(values["scope"], values["value"], values["reason"])
        except InvalidRequest as problem:
            for error in problem.errors:
                self.add_error(error.field, error.message)
            return values
        present = selectors.active_pauses().filter(scope=scope, value=values["value"]).first()
        if present is not None:
            raise ValidationError(already(present))
        return values


@admin.register(Pause)
class PauseAdmin(HasActs, ReadOnlyAdmin):
    """Only those in force are shown. A row is never changed: it is added, and ended by the action."""

    form = PauseForm
    control = Control.PAUSE
    masks: ClassVar = {"reason": scrubs("reason")}
    list_display = ("scope", "named", "reason", "created_by", "created_at")
    fields = list_display
    readonly_fields = ("named",)
    actions = ("resume_sending",)
    when_empty = (
        "Nothing is paused: everything that is due is sent. Add pause stops everything, a channel, a provider or a "
        "client."
    )

    @admin.display(description="value")
    def named(self, pause: Pause) -> SafeString | str:
        if pause.client_name is None:
            return pause.value or "-"
        return format_html('<span title="{}">{}</span>', pause.value, pause.client_name)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pause]:
        return selectors.active_pauses()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"acts_address": acts_address(Control.PAUSE), **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With *Resume*, which is the action of the list."""
        more = {"may_resume": self.has_resume_permission(request), "checkbox": ACTION_CHECKBOX_NAME}
        return super().change_view(request, object_id, form_url, {**more, **(extra_context or {})})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_fields(request, obj) if obj else PauseForm.Meta.fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.add_pause")

    def has_resume_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.change_pause")

    def save_model(self, request: HttpRequest, obj: Pause, form: Any, change: bool) -> None:
        made, begun = services.pause(obj.scope, obj.value, reason=obj.reason, by=str(request.user))
        obj.pk, obj.client_name = made.pk, made.client_name
        if not begun:  # somebody else was quicker, by less than a request
            cast("Any", request).paused_already = made

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None if hasattr(request, "paused_already") else super().log_addition(request, obj, message)

    def response_add(self, request: HttpRequest, obj: Pause, post_url_continue: str | None = None) -> HttpResponse:
        """Says what came of it: nothing, when it was paused already."""
        present = getattr(request, "paused_already", None)
        if present is None:
            messages.success(request, f"{obj} is paused. It is in force within a poll of the workers.")
        else:
            messages.warning(request, already(present))
        return redirect("admin:notifications_pause_changelist")

    @admin.action(description="Resume sending", permissions=["resume"])
    @asks_first(
        "Resume", "What they keep back is sent again. What another pause keeps stays where it is.", state=_standing
    )
    def resume_sending(self, request: HttpRequest, rows: list[Pause], reason: str) -> None:
        resumed = []
        for pause in rows:
            try:
                services.resume(pause.pk, reason=reason, by=str(request.user))
            except NotFound:
                continue  # somebody else was quicker
            self.log_change(request, pause, f"resumed: {reason}")
            resumed.append(f"{pause} goes on.")
        tell(request, resumed, f"{len(resumed)} pauses are resumed.")
