"""The health of the providers: taking one out of use, and into it again."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest

from notifications import services
from notifications.errors import InvalidRequest, NotFound
from notifications.models import ProviderHealth, ProviderPace
from notifyq.console import ReadOnlyAdmin, asks_first


class TripForm(forms.ModelForm):  # type: ignore[type-arg]
    """For one that has never failed, and so has no row yet. Checked by the same service as the API's requests."""

    class Meta:
        model = ProviderHealth
        fields = ("channel", "provider", "act_reason")
        labels = {"act_reason": "Reason"}
        help_texts = {"provider": "A name from the channel's chain. It is used no more until it is reset."}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                services.check_breaker(values["channel"], values["provider"], values["act_reason"])
            except NotFound as problem:
                self.add_error("provider", str(problem))
            except InvalidRequest as problem:
                self.add_error("act_reason", str(problem))
        return values


def _stand(row: ProviderHealth) -> str:
    return str(row.acted_at)


@admin.register(ProviderHealth)
class ProviderHealthAdmin(ReadOnlyAdmin):
    """One row for each provider that has ever failed, or was tripped; never changed but by the two actions."""

    form = TripForm
    list_display = (
        "channel",
        "provider",
        "state",
        "tripped",
        "failing_since",
        "probe_due_at",
        "failures",
        "trips",
        "last_error_code",
        "act",
        "acted_by",
    )
    fields = (*list_display, "opened_at", "last_error_message", "last_error_at", "acted_at", "act_reason")
    actions = ("trip", "reset")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields if obj else TripForm.Meta.fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.add_providerhealth")

    def save_model(self, request: HttpRequest, obj: ProviderHealth, form: Any, change: bool) -> None:
        view = services.trip_breaker(obj.channel, obj.provider, reason=obj.act_reason, by=str(request.user))
        obj.pk = view.row.pk

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.change_providerhealth")

    @admin.action(description="Trip: use it no more until it is reset", permissions=["operate"])
    @asks_first(
        "Trip", "They are called no more, until somebody resets them. The others of the chain go on.", stand=_stand
    )
    def trip(self, request: HttpRequest, rows: list[ProviderHealth], reason: str) -> None:
        for row in rows:
            if row.tripped:
                self.message_user(request, f"{row} was tripped already.", messages.WARNING)
                continue
            services.trip_breaker(row.channel, row.provider, reason=reason, by=str(request.user))
            self._tell(request, row, "tripped", reason)

    @admin.action(description="Reset: use it again", permissions=["operate"])
    @asks_first("Reset", "They are called again at once, whoever opened their breaker.", stand=_stand)
    def reset(self, request: HttpRequest, rows: list[ProviderHealth], reason: str) -> None:
        for row in rows:
            services.reset_breaker(row.channel, row.provider, reason=reason, by=str(request.user))
            self._tell(request, row, "reset", reason)

    def _tell(self, request: HttpRequest, row: ProviderHealth, done: str, reason: str) -> None:
        self.log_change(request, row, f"{done}: {reason}")
        self.message_user(request, f"{row} is {done}.")


@admin.register(ProviderPace)
class ProviderPaceAdmin(ReadOnlyAdmin):
    """How fast the providers may be called: those with a rate of their own, and those that asked for a rest."""

    list_display = ("provider", "throttled_until", "spent_until")
    fields = list_display
