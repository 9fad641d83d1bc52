"""The rules of the rate limits. They live in an app that knows no clients; here a client is chosen by its name."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from notifications import services
from notifications.admin.control_act import HasActs, acts_address
from notifications.admin.rule_forms import RuleForm, TermsForm, named_rules
from notifications.admin.story.deeds import in_words
from notifications.channel import UNLIMITED, Channel
from notifications.errors import ActedMeanwhile, NotFound
from notifications.models import Control
from notifyq.console import EstimatingPaginator, GuardedAdmin, asks_first, tell
from ratelimits.models import RateLimitRule
from ratelimits.rules import RuleColumns, RuleTaken

CHANGING = (
    "What is left empty stays as it is. The new terms are in force from the next claim on, also for what waits already."
)
REMOVING = "The next exact rule, or the default, holds in their place, also for what waits already."


class ChannelFilter(admin.SimpleListFilter):
    title = "channel"
    parameter_name = "channel"
    EVERY = "every"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(self.EVERY, "every channel"), *((c.value, c.value) for c in Channel if c not in UNLIMITED)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[RateLimitRule]) -> QuerySet[RateLimitRule]:
        channel = self.value()
        return queryset.filter(channel="" if channel == self.EVERY else channel) if channel else queryset


class WhoseFilter(admin.SimpleListFilter):
    title = "client"
    parameter_name = "whose"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("all", "all clients together"), ("one", "one client's own")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[RateLimitRule]) -> QuerySet[RateLimitRule]:
        return queryset.filter(client_id__isnull=self.value() == "all") if self.value() else queryset


def _stand(rule: RateLimitRule) -> str:
    return rule.stand


@admin.register(RateLimitRule)
class RateLimitRuleAdmin(HasActs, GuardedAdmin):
    """Stored by the service, so that what waits already goes by the new rule too."""

    form = RuleForm
    control = Control.LIMIT
    paginator = EstimatingPaginator
    list_display = ("channel_name", "client_name", "limit", "window_seconds", "created_at")
    list_display_links = ("channel_name", "client_name")
    list_filter = (ChannelFilter, WhoseFilter)
    show_facets = admin.ShowFacets.NEVER
    fields: ClassVar = ("channel", "client", "limit_count", "no_limit", "window_seconds", "reason", "seen")
    read_fields = ("channel_name", "client_name", "limit", "window_seconds", "created_at")
    actions = ("change_terms", "remove")
    when_empty = "There are no rules: the default holds for everybody. Add rate limit rule makes an exception."
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[RateLimitRule]:
        return named_rules(super().get_queryset(request))

    @admin.display(description="channel")
    def channel_name(self, rule: RateLimitRule) -> str:
        return rule.channel or "every channel"

    @admin.display(description="client")
    def client_name(self, rule: RateLimitRule) -> str:
        if rule.client_id is None:
            return "all clients together"
        return rule.client_name or f"{rule.client_id} (gone)"

    @admin.display(description="limit")
    def limit(self, rule: RateLimitRule) -> str:
        return "none" if rule.limit_count is None else str(rule.limit_count)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        more = {"acts_address": acts_address(Control.LIMIT), "default": settings.NOTIFYQ}
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Tells who comes too late by less than a request that nothing was done."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except (ActedMeanwhile, NotFound, RuleTaken) as refused:
            messages.warning(request, f"Nothing was done. {in_words(refused)}")
            return redirect("admin:ratelimits_ratelimitrule_changelist")

    def save_model(self, request: HttpRequest, obj: RateLimitRule, form: Any, change: bool) -> None:
        columns = RuleColumns(
            channel=obj.channel,
            client_id=obj.client_id,
            limit_count=obj.limit_count,
            window_seconds=obj.window_seconds,
        )
        reason, seen = form.cleaned_data["reason"], form.cleaned_data["seen"]
        if change:
            services.edit_limit(obj.pk, seen, columns, reason=reason, by=str(request.user))
        else:
            obj.pk = services.add_limit(columns, reason=reason, by=str(request.user)).pk

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        may_edit = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return self.fields if may_edit else self.read_fields

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """For the history: what it said, what it says now, and why."""
        return f"{f'{form.before} → ' if form.before else ''}{form.instance}. {form.cleaned_data['reason']}"

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """Asks for a reason like the action of the list, and does the same."""
        row = self.get_object(request, unquote(object_id))
        if not self.has_delete_permission(request, row):
            raise PermissionDenied
        asked = self.remove(
            request, self.get_queryset(request).filter(pk=row.pk) if row else RateLimitRule.objects.none()
        )
        listed = reverse("admin:ratelimits_ratelimitrule_changelist")
        if not isinstance(asked, TemplateResponse):
            return redirect(listed)
        asked.context_data = {**(asked.context_data or {}), "list_address": listed}
        return asked

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)  # it asks for no reason
        return actions

    @admin.action(description="Change the limit or the window", permissions=["change"])
    @asks_first("Change", CHANGING, stand=_stand, form=TermsForm)
    def change_terms(self, request: HttpRequest, rows: list[RateLimitRule], reason: str, values: TermsForm) -> None:
        named = {rule.pk: rule for rule in rows}
        seen = {rule.pk: rule.stand for rule in rows}
        changed = services.change_limits(seen, values.terms, reason=reason, by=str(request.user))
        lines = []
        for before, after in changed:
            rule = named[before.pk]
            lines.append(f"{rule} → {after.terms}.")
            self.log_change(request, rule, f"{rule} → {after.terms}. {reason}")
        tell(request, lines, f"{len(changed)} rate limit rules are changed.")
        _tell_left(request, sum(1 for rule in rows if values.becomes(rule)) - len(changed))

    @admin.action(description="Remove: the next exact rule, or the default, holds", permissions=["delete"])
    @asks_first("Remove", REMOVING, stand=_stand)
    def remove(self, request: HttpRequest, rows: list[RateLimitRule], reason: str) -> None:
        named = {rule.pk: rule for rule in rows}
        seen = {rule.pk: rule.stand for rule in rows}
        gone = [named[rule.pk] for rule in services.remove_limits(seen, reason=reason, by=str(request.user))]
        for rule in gone:
            LogEntry.objects.log_actions(
                str(request.user.pk), [rule], DELETION, f"{rule}. {reason}", single_object=True
            )
        tell(request, [f"{rule} is removed." for rule in gone], f"{len(gone)} rate limit rules are removed.")
        _tell_left(request, len(rows) - len(gone))


def _tell_left(request: HttpRequest, count: int) -> None:
    """Of rules on which somebody acted between the look at them and the act."""
    if count:
        messages.warning(request, f"{count} left alone: somebody else was quicker.")
