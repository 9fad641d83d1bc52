"""The rules of the rate limits. They live in an app that knows no clients; here a client is chosen by its name."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from notifications.channel import UNLIMITED, Channel
from notifications.models import Client
from notifyq.console import EstimatingPaginator, GuardedAdmin, asks_first, reason_field
from ratelimits import rules
from ratelimits.models import RateLimitRule


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """`client` is chosen by name and stored by id."""

    channel = forms.ChoiceField(
        choices=[("", "every channel"), *((c.value, c.value) for c in Channel if c not in UNLIMITED)], required=False
    )
    client = forms.ModelChoiceField(
        Client.objects.all(),
        required=False,
        empty_label="all clients together",
        help_text="One client: its notifications only, counted by themselves.",
    )

    no_limit = forms.BooleanField(
        label="No limit", required=False, help_text="Whatever it holds for is then sent as often as it comes."
    )
    reason = reason_field()

    class Meta:
        model = RateLimitRule
        fields = ("channel", "limit_count", "window_seconds")
        help_texts: ClassVar = {"limit_count": "Most sends to one recipient in any window."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before = ""
        if not self.instance._state.adding:
            self.before = described(self.instance)
            self.initial.update(client=self.instance.client_id, no_limit=self.instance.limit_count is None)

    def clean_no_limit(self) -> bool:
        """A count that was forgotten takes no limit away, and one that was typed is not passed over."""
        chosen, given = bool(self.cleaned_data["no_limit"]), self.cleaned_data.get("limit_count")
        if chosen and given is not None:
            self.add_error("limit_count", "Leave it empty, or do not choose “No limit”.")
        if not chosen and given is None and "limit_count" not in self.errors:
            self.add_error("limit_count", "Give a number, or choose “No limit”.")
        return chosen

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        client = values.get("client")
        self.instance.client_id = client.pk if client else None
        same = RateLimitRule.objects.filter(channel=values.get("channel") or "", client_id=self.instance.client_id)
        if not self.errors and same.exclude(pk=self.instance.pk).exists():
            raise ValidationError("There is a rule for this channel and client already.")
        return values


def described(rule: RateLimitRule) -> str:
    """What a rule says, for the history."""
    found = Client.objects.filter(pk=rule.client_id).first() if rule.client_id else None
    whose = found.name if found else str(rule.client_id or "all clients together")
    limit = "no limit" if rule.limit_count is None else f"{rule.limit_count} in {rule.window_seconds} s"
    return f"{rule.channel or 'every channel'}, {whose}: {limit}"


@admin.register(RateLimitRule)
class RateLimitRuleAdmin(GuardedAdmin):
    """Stored by the service, so that what waits already goes by the new rule too."""

    form = RuleForm
    paginator = EstimatingPaginator
    list_display = ("channel_name", "client_name", "limit", "window_seconds", "created_at")
    list_display_links = ("channel_name", "client_name")
    fields = ("channel", "client", "limit_count", "no_limit", "window_seconds", "reason")
    read_fields = ("channel_name", "client_name", "limit", "window_seconds", "created_at")
    actions = ("remove",)
    sortable_by = ()

    @admin.display(description="channel")
    def channel_name(self, rule: RateLimitRule) -> str:
        return rule.channel or "every channel"

    @admin.display(description="client")
    def client_name(self, rule: RateLimitRule) -> str:
        if rule.client_id is None:
            return "all clients together"
        found = Client.objects.filter(pk=rule.client_id).first()
        return found.name if found else f"{rule.client_id} (gone)"

    @admin.display(description="limit")
    def limit(self, rule: RateLimitRule) -> str:
        return "none" if rule.limit_count is None else str(rule.limit_count)

    def save_model(self, request: HttpRequest, obj: RateLimitRule, form: Any, change: bool) -> None:
        stored = rules.store(
            obj.pk if change else None,
            channel=obj.channel,
            client_id=obj.client_id,
            limit_count=obj.limit_count,
            window_seconds=obj.window_seconds,
            by=str(request.user),
        )
        obj.pk = stored.pk

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        may_edit = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return self.fields if may_edit else self.read_fields

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """For the history: what it said, what it says now, and why."""
        was, now = form.before, described(form.instance)
        return f"{f'{was} → ' if was and was != now else ''}{now}. {form.cleaned_data['reason']}"

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

    @admin.action(description="Remove: the next exact rule, or the default, holds", permissions=["delete"])
    @asks_first("Remove", "The next exact rule, or the default, holds in their place, also for what waits already.")
    def remove(self, request: HttpRequest, rows: list[RateLimitRule], reason: str) -> None:
        for rule in rows:
            LogEntry.objects.log_actions(
                str(request.user.pk), [rule], DELETION, f"{described(rule)}. {reason}", single_object=True
            )
            rules.remove(rule, by=str(request.user))
            self.message_user(request, f"{rule} is removed.")
