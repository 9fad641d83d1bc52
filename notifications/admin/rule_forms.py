"""What is asked for a rule of the rate limits: all of one, or other terms for several."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet, Subquery

from notifications.channel import UNLIMITED, Channel
from notifications.models import Client
from notifyq.console import AskedForm, reason_field
from ratelimits.models import RateLimitRule
from ratelimits.rules import NewTerms

STORED_MOST = 2**31 - 1
_BOUNDS: dict[str, Any] = {
    "min_value": 1,
    "max_value": STORED_MOST,
    "error_messages": dict.fromkeys(
        ("min_value", "max_value", "invalid"), f"Give a whole number from 1 to {STORED_MOST}."
    ),
}


def named_rules(rules: QuerySet[RateLimitRule]) -> QuerySet[RateLimitRule]:
    """With the names of their clients, which the app of the rules does not know."""
    names = Client.objects.filter(pk=OuterRef("client_id")).values("name")[:1]
    # The stubs take what the model declares of it for another field.
    return rules.annotate(client_name=Subquery(names))  # type: ignore[no-redef]


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

    limit_count = forms.IntegerField(required=False, help_text="Most sends to one recipient in any window.", **_BOUNDS)
    window_seconds = forms.IntegerField(**_BOUNDS)
    no_limit = forms.BooleanField(
        label="No limit", required=False, help_text="Whatever it holds for is then sent as often as it comes."
    )
    reason = reason_field()
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = RateLimitRule
        fields = ("channel", "limit_count", "window_seconds")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before, self.stood = "", ""
        if not self.instance._state.adding:
            self.before, self.stood = str(self.instance), self.instance.stand
            self.initial.update(
                client=self.instance.client_id, no_limit=self.instance.limit_count is None, seen=self.stood
            )

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
        if values.get("seen") != self.stood:
            raise ValidationError(f"Somebody has changed it since you opened the page. It says: {self.before}.")
        client = values.get("client")
        self.instance.client_id = client.pk if client else None
        self.instance.client_name = client.name if client else None
        same = RateLimitRule.objects.filter(channel=values.get("channel") or "", client_id=self.instance.client_id)
        if not self.errors and same.exclude(pk=self.instance.pk).exists():
            raise ValidationError("There is a rule for this channel and client already.")
        return values

    def _post_clean(self) -> None:
        """Looks at the rule as it would be."""
        super()._post_clean()  # type: ignore[misc]  # Django's own, which the stubs leave out
        if not self.errors and str(self.instance) == self.before:
            self.add_error(None, "It says so already: nothing would be changed.")


class TermsForm(AskedForm):
    """Other terms for several rules."""

    limit_count = forms.IntegerField(
        label="Most sends to one recipient",
        required=False,
        help_text="Empty: as it is.",
        **_BOUNDS,
    )
    no_limit = forms.BooleanField(label="No limit", required=False, help_text="Instead of a number.")
    window_seconds = forms.IntegerField(
        label="In any window of (seconds)",
        required=False,
        help_text="Empty: as it is.",
        **_BOUNDS,
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("no_limit") and values.get("limit_count") is not None:
            self.add_error("limit_count", "Leave it empty, or do not choose “No limit”.")
        if not self.errors and not any(values.values()):
            raise ValidationError("Give a number of sends, a window, or both; or choose “No limit”.")
        return values

    @property
    def terms(self) -> NewTerms:
        return NewTerms(**self.cleaned_data)

    def becomes(self, row: RateLimitRule) -> str:
        after = self.terms.given_to(row).terms
        return "" if after == row.terms else after
