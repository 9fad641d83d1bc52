"""Making and revoking keys. The secret stands on one page, once: it is in no message, session, log or history."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from notifications import accounts
from notifications.models import ApiKey, Client
from notifications.models.client import Scope
from notifyq.console import asks_first, reason_field, tell

DAYS_MOST = 36_500
MADE_ALREADY = (
    "Nothing was done: {prefix} was made by this form already, and its text was shown once, in the first answer. "
    "If nobody has it, revoke it and make another."
)


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a new key may do, and for how long."""

    client = forms.ModelChoiceField(Client.objects.all())
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, initial=list(accounts.DEFAULT_SCOPES), widget=forms.CheckboxSelectMultiple
    )
    expires_in_days = forms.IntegerField(
        required=False, min_value=1, max_value=DAYS_MOST, help_text="Empty: it never expires."
    )
    reason = reason_field()
    form_id = forms.UUIDField(required=False, initial=uuid4, widget=forms.HiddenInput)

    class Meta:
        model = ApiKey
        fields = ("client", "scopes")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not values.get("form_id"):
            raise ValidationError("This form is not whole. Open the form anew.")
        return values


class MakesKeys(admin.ModelAdmin):  # type: ignore[type-arg]
    """Adding makes a key and shows it; the action revokes."""

    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.add_apikey")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("notifications.change_apikey")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **kwargs) if obj else KeyForm

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj:
            return super().get_fieldsets(request, obj)
        return [(None, {"fields": ("client", "scopes", "expires_in_days", "reason", "form_id")})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_readonly_fields(request, obj) if obj else ()

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        days = form.cleaned_data["expires_in_days"]
        try:
            made = accounts.create_key(
                form.cleaned_data["client"],
                form.cleaned_data["scopes"],
                expires_in=None if days is None else timedelta(days=days),
                by=str(request.user),
                form_id=form.cleaned_data["form_id"],
            )
        except accounts.KeyMadeAlready as problem:
            cast("Any", request).made_already = problem.api_key
            return
        obj.pk, obj.prefix = made.api_key.pk, made.api_key.prefix
        cast("Any", request).new_key = made

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """For the history: what it may do, for how long, and why it was made."""
        days = form.cleaned_data["expires_in_days"]
        lasting = f"for {days} days" if days else "without an end"
        return f"made with {', '.join(form.cleaned_data['scopes'])}, {lasting}: {form.cleaned_data['reason']}"

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None if hasattr(request, "made_already") else super().log_addition(request, obj, message)

    def response_add(
        self, request: HttpRequest, obj: models.Model, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The page with the secret instead of a redirect, which would have to carry it somewhere."""
        present: ApiKey | None = getattr(request, "made_already", None)
        if present is not None:
            messages.warning(request, MADE_ALREADY.format(prefix=present.prefix))
            return redirect("admin:notifications_apikey_changelist")
        made: accounts.NewKey = cast("Any", request).new_key
        context = {
            **self.admin_site.each_context(request),
            "title": "New key",
            "opts": self.opts,
            "secret": made.secret,
            "key": made.api_key,
        }
        response = TemplateResponse(request, "admin/notifications/apikey/made.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @admin.action(description="Revoke", permissions=["revoke"])
    @asks_first("Revoke", "They are refused from now on. This cannot be undone.", stand=lambda key: str(key.revoked_at))
    def revoke(self, request: HttpRequest, rows: list[ApiKey], reason: str) -> None:
        ended = [key for key in rows if accounts.end_key(key.prefix, by=str(request.user))]
        for key in ended:
            self.log_change(request, key, f"revoked: {reason}")
        left = [f"{key.prefix} was revoked already." for key in rows if key not in ended]
        tell(request, left, f"{len(left)} were revoked already.", messages.WARNING)
        tell(request, [f"{key.prefix} is revoked." for key in ended], f"{len(ended)} keys are revoked.")
