"""The health of the providers: taking one out of use, and into it again."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications import selectors, services
from notifications.admin.breaker_page import OPERATE, STATE_TONES, TRIP, WORKERS_TOLD, facts_of, page_of, trip_page
from notifications.admin.control_act import HasActs, acts_address
from notifications.breaker import BreakerState
from notifications.models import Control, ProviderHealth, ProviderPace
from notifications.story.breaker import standing
from notifications.story.said import Said
from notifyq.console import OwnPage, ReadOnlyAdmin, asks_first, badge, instant, tell


def _stand(row: ProviderHealth) -> str:
    return str(row.acted_at)


def _state(row: ProviderHealth) -> Said:
    return standing(facts_of(selectors.breaker_of(row)), selectors.database_now())


@admin.register(ProviderHealth)
class ProviderHealthAdmin(HasActs, OwnPage, ReadOnlyAdmin):
    """One row for each provider that has ever failed, or was tripped; never changed but by trips and resets."""

    control = Control.BREAKER
    list_display = (
        *("channel", "provider", "state_badge", "out_since", "next_call"),
        *("failures", "trips", "last_error", "last_act"),
    )
    list_display_links = ("channel", "provider")
    actions = ("trip", "reset")
    when_empty = "No provider has failed or was tripped so far: all that are in use stand on the overview."

    @admin.display(description="state")
    def state_badge(self, row: ProviderHealth) -> SafeString:
        tone = STATE_TONES[BreakerState(row.state)]
        return badge("tripped" if row.tripped else row.state.lower().replace("_", " "), tone)

    @admin.display(description="out of use since")
    def out_since(self, row: ProviderHealth) -> SafeString | str:
        return instant(row.failing_since)

    @admin.display(description="next call")
    def next_call(self, row: ProviderHealth) -> SafeString | str:
        return instant(row.probe_due_at)

    @admin.display(description="last error")
    def last_error(self, row: ProviderHealth) -> SafeString | str:
        return format_html("{} {}", row.last_error_code, instant(row.last_error_at)) if row.last_error_code else "-"

    @admin.display(description="last act")
    def last_act(self, row: ProviderHealth) -> str:
        return f"{row.act} by {row.acted_by}" if row.act else "-"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        more = {"title": "Providers", "acts_address": acts_address(Control.BREAKER)}
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def show(self, request: HttpRequest, row: ProviderHealth) -> HttpResponse:
        page = {**self.headed(request, f"Provider {row.provider} for {row.channel}"), **page_of(request, row)}
        return TemplateResponse(request, "console/breaker.html", page)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Trip a provider, whether it has a row or not."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return trip_page(request, {**self.admin_site.each_context(request), "opts": self.opts})

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(TRIP)

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        """No "Add" in the list of all tables: nothing is added."""
        return {**super().get_model_perms(request), "add": False}

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(OPERATE)

    @admin.action(description="Trip: use it no more until it is reset", permissions=["operate"])
    @asks_first(
        "Trip",
        "They are called no more, until somebody resets them. The others of the chain go on.",
        stand=_stand,
        state=_state,
    )
    def trip(self, request: HttpRequest, rows: list[ProviderHealth], reason: str) -> None:
        by = str(request.user)
        tripped = [row for row in rows if services.use_no_more(row.channel, row.provider, reason=reason, by=by)]
        left = [f"{row} was tripped already." for row in rows if row not in tripped]
        tell(request, left, f"{len(left)} were tripped already.", messages.WARNING)
        self._tell(request, tripped, "tripped", reason)

    @admin.action(description="Reset: use it again", permissions=["operate"])
    @asks_first("Reset", "They are called again at once, whoever opened their breaker.", stand=_stand, state=_state)
    def reset(self, request: HttpRequest, rows: list[ProviderHealth], reason: str) -> None:
        by = str(request.user)
        reset = [row for row in rows if services.use_again(row.channel, row.provider, reason=reason, by=by)]
        left = [f"{row} was in use already." for row in rows if row not in reset]
        tell(request, left, f"{len(left)} were in use already.", messages.WARNING)
        self._tell(request, reset, "reset", reason)

    def _tell(self, request: HttpRequest, rows: list[ProviderHealth], done: str, reason: str) -> None:
        for row in rows:
            self.log_change(request, row, f"{done}: {reason}")
        lines = [f"{row} is {done}. {WORKERS_TOLD}" for row in rows]
        tell(request, lines, f"{len(rows)} providers are {done}. {WORKERS_TOLD}")


@admin.register(ProviderPace)
class ProviderPaceAdmin(ReadOnlyAdmin):
    """How fast the providers may be called: those with a rate of their own, and those that asked for a rest."""

    list_display = ("provider", "throttled_until", "spent_until")
    fields = list_display
