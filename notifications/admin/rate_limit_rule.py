"""The rules of the rate limits. They live in an app that knows no clients; here a client is chosen by its name."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.models import DELETION, LogEntry
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from notifications.channel import UNLIMITED, Channel
from notifications.models import Client
from notifyq.console import EstimatingPaginator, GuardedAdmin, asks_first
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

    class Meta:
        model = RateLimitRule
        fields = ("channel", "limit_count", "window_seconds")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.client_id:
            self.initial["client"] = self.instance.client_id

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        client = values.get("client")
        self.instance.client_id = client.pk if client else None
        same = RateLimitRule.objects.filter(channel=values.get("channel") or "", client_id=self.instance.client_id)
        if not self.errors and same.exclude(pk=self.instance.pk).exists():
            raise ValidationError("There is a rule for this channel and client already.")
        return values


@admin.register(RateLimitRule)
class RateLimitRuleAdmin(GuardedAdmin):
    """Stored by the service, so that what waits already goes by the new rule too."""

    form = RuleForm
    paginator = EstimatingPaginator
    list_display = ("channel_name", "client_name", "limit", "window_seconds", "created_at")
    list_display_links = ("channel_name", "client_name")
    fields = ("channel", "client", "limit_count", "window_seconds")
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

    def delete_model(self, request: HttpRequest, obj: RateLimitRule) -> None:
        rules.remove(obj, by=str(request.user))

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)  # it asks for no reason
        return actions

    @admin.action(description="Remove: the next exact rule, or the default, holds", permissions=["delete"])
    @asks_first("Remove", "The next exact rule, or the default, holds in their place, also for what waits already.")
    def remove(self, request: HttpRequest, rows: list[RateLimitRule], reason: str) -> None:
        for rule in rows:
            LogEntry.objects.log_actions(str(request.user.pk), [rule], DELETION, reason, single_object=True)
            rules.remove(rule, by=str(request.user))
            self.message_user(request, f"{rule} is removed.")
