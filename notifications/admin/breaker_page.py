"""The page of one breaker, and the page that trips one. Acting goes through forms of their own, each by POST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode

from notifications import selectors, services
from notifications.admin.control_act import acts_address
from notifications.admin.story.deeds import Unclear, faults_in, reason_of
from notifications.admin.typed import put_back, refuse
from notifications.breaker import BreakerState
from notifications.errors import NotifyError
from notifications.models import Control, ControlAct, ProviderHealth
from notifications.selectors import BreakerView
from notifications.services.breakers import REASON_MAX_LENGTH
from notifications.status import WaitingReason
from notifications.story.acts import Field, Form
from notifications.story.breaker import BreakerDeed, BreakerFacts, legal, standing
from notifyq.console import Page, add_page, scrubbed
from notifyq.roles import SEE_PRIVATE

SHOWN_MOST = 50
"""Of what people did to one: the newest."""
STATE_TONES = {BreakerState.CLOSED: "good", BreakerState.OPEN: "bad", BreakerState.HALF_OPEN: "wait"}
OPERATE = "notifications.change_providerhealth"
TRIP = "notifications.add_providerhealth"
WORKERS_TOLD = "It takes up to a second until all workers know."

_WORDINGS = {
    BreakerDeed.TRIP: (
        "Trip",
        "It is called no more until somebody resets it, and is not tried in between. The others of its chain go on.",
    ),
    BreakerDeed.RESET: ("Reset", "It is called again at once, whoever opened it, and its failures are counted anew."),
}
_REASON = Field(name="reason", label="Reason, for the record", is_required=True, max_length=REASON_MAX_LENGTH)


def page_of(request: HttpRequest, row: ProviderHealth) -> dict[str, Any]:
    """All that the template needs to show one."""
    view = selectors.breaker_of(row)
    now, facts = selectors.database_now(), facts_of(view)
    acts = list(selectors.control_acts(Control.BREAKER, str(row))[:SHOWN_MOST])
    stands = standing(facts, now)
    if not request.user.has_perm(SEE_PRIVATE):
        stands = tuple(scrubbed(part) if isinstance(part, str) else part for part in stands)
    deeds = legal(facts, now) if request.user.has_perm(OPERATE) else ()
    return {
        "row": row,
        "facts": facts,
        "view": view,
        "tone": STATE_TONES[facts.state],
        "standing": stands,
        "acts": acts,
        "acts_address": acts_address(Control.BREAKER, str(row)),
        "forms": put_back(request, [_form(deed, row, acts[0].pk if acts else 0) for deed in deeds]),
        "waiting_address": _waiting_address(row),
    }


def facts_of(view: BreakerView) -> BreakerFacts:
    row = view.row
    return BreakerFacts(
        state=BreakerState(row.state),
        failures=row.failures,
        out_since=row.failing_since,
        next_call_at=row.probe_due_at,
        rests_until=view.throttled_until,
        is_tripped=row.tripped,
        tripped_by=row.acted_by,
        tripped_at=row.acted_at,
        reason=row.act_reason,
    )


def _form(deed: BreakerDeed, row: ProviderHealth, last_act_id: int) -> Form:
    verb, note = _WORDINGS[deed]
    return Form(
        name=deed.value,
        address=reverse(f"admin:breaker-{deed}", args=[row.pk]),
        title=verb,
        note=note,
        verb=verb,
        seen=str(last_act_id),
        fields=(_REASON,),
    )


def _waiting_address(row: ProviderHealth) -> str:
    query = {"channel__exact": row.channel, "waiting_reason": WaitingReason.PROVIDER_UNAVAILABLE.value}
    return f"{reverse('admin:notifications_notification_changelist')}?{urlencode(query)}"


class TripForm(forms.Form):
    """Any provider of a chain, whether anything was ever noted of it or not."""

    which = forms.ChoiceField(label="Provider", error_messages={"required": "Please choose one."})
    reason = forms.CharField(
        label="Reason, for the record",
        max_length=REASON_MAX_LENGTH,
        error_messages={"required": "Please give a reason."},
        widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off"}),
    )
    seen = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(_key(view), _label(view)) for view in selectors.breakers()]
        self.fields["which"].choices = [("", "Choose one"), *choices]  # type: ignore[attr-defined]  # it is a choice


def trip_page(request: HttpRequest, shown: dict[str, Any]) -> HttpResponse:
    """Ask for a provider and a reason; by POST, trip it.

    Args:
        shown: what every page of the console needs.
    """
    last = ControlAct.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    form = TripForm(request.POST if request.method == "POST" else None, initial={"seen": last})
    if form.is_valid():
        channel, _, provider = form.cleaned_data["which"].partition("/")
        return _act(request, BreakerDeed.TRIP, channel, provider, form.cleaned_data)
    context = {**shown, "title": "Trip a provider", "form": form, "workers_told": WORKERS_TOLD}
    return TemplateResponse(request, "console/trip_provider.html", context)


def view_of(deed: BreakerDeed) -> Callable[[HttpRequest, int], HttpResponse]:
    """The view that the form of an act is posted to."""

    def view(request: HttpRequest, breaker_id: int) -> HttpResponse:
        row = ProviderHealth.objects.filter(pk=breaker_id).first()
        if row is None:
            raise Http404("there is no such breaker")
        values = {"reason": request.POST.get("reason", ""), "seen": request.POST.get("seen", "")}
        return _act(request, deed, row.channel, row.provider, values)

    return view


def _act(request: HttpRequest, deed: BreakerDeed, channel: str, provider: str, values: dict[str, Any]) -> HttpResponse:
    faults = {}
    try:
        messages.success(request, _done(deed, channel, provider, values, by=str(request.user)))
    except (Unclear, NotifyError) as refused:
        faults = faults_in(refused, values)
    row = ProviderHealth.objects.filter(channel=channel, provider=provider).first()
    listed = reverse("admin:notifications_providerhealth_changelist")
    page = reverse("admin:notifications_providerhealth_change", args=[row.pk]) if row else listed
    if faults:
        refuse(request, page, deed, faults)
    return redirect(page)


def _done(deed: BreakerDeed, channel: str, provider: str, values: dict[str, Any], *, by: str) -> str:
    reason, seen = reason_of(values), str(values["seen"])
    if not seen.isascii() or not seen.isdigit() or len(seen) > 18:
        raise Unclear("Please use the form on the page.")
    with services.breaker_as_seen(channel, provider, int(seen)):
        if deed is BreakerDeed.RESET:
            if not services.use_again(channel, provider, reason=reason, by=by):
                raise Unclear("It was in use already.")
            return f"{channel} {provider} is reset. {WORKERS_TOLD}"
        if selectors.is_tripped(channel, provider):
            raise Unclear("It is tripped already.")
        services.trip_breaker(channel, provider, reason=reason, by=by)
        return f"{channel} {provider} is tripped. {WORKERS_TOLD}"


def _key(view: BreakerView) -> str:
    return f"{view.row.channel}/{view.row.provider}"


def _label(view: BreakerView) -> str:
    name = f"{view.row.channel} {view.row.provider}"
    if view.row.tripped:
        return f"{name} (tripped by {view.row.acted_by})"
    return name if view.row.state == BreakerState.CLOSED else f"{name} (out of use, tried again by itself)"


for _deed in BreakerDeed:
    add_page(
        Page(
            path=f"notifications/providerhealth/<int:breaker_id>/{_deed}/",
            name=f"breaker-{_deed}",
            view=view_of(_deed),
            permission=OPERATE,
            methods=("POST",),
        )
    )
