"""Actions of the stock lists that ask first: what was ticked is shown, and a reason wanted, before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

ASKED_MOST = 200
REASON_MAX_LENGTH = 255
Act = Callable[[Any, HttpRequest, list[Any], str], None]
Action = Callable[[Any, HttpRequest, QuerySet[Any]], HttpResponse | None]


def nothing(row: Model) -> str:
    """For acts that can happen to a row only once."""
    return ""


def asks_first(verb: str, effect: str, *, stand: Callable[[Any], str] = nothing) -> Callable[[Act], Action]:
    """Make an action out of an act that is done to rows for a reason.

    A form that is sent twice, or from a second window, leaves alone what was acted upon since it was shown.

    Args:
        verb: on the button; the rows are named below it.
        effect: what it does, in a sentence.
        stand: how a row stands; when that has changed since the page was shown, the row is left alone.
    """

    def decorate(act: Act) -> Action:
        @wraps(act)
        def action(model_admin: ModelAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
            rows = list(queryset[: ASKED_MOST + 1])
            if len(rows) > ASKED_MOST:
                messages.warning(request, f"Nothing was done: tick at most {ASKED_MOST}.")
                return None
            reason, named = request.POST.get("reason", "").strip(), [(row, f"{row.pk}:{stand(row)}") for row in rows]
            problem = _problem(reason) if "confirmed" in request.POST else ""
            if problem or "confirmed" not in request.POST:
                return _ask(model_admin, request, named, verb=verb, effect=effect, problem=problem)
            shown = set(request.POST.getlist("seen"))
            same = [row for row, seen in named if seen in shown]
            if len(same) < len(shown):
                left = len(shown) - len(same)
                messages.warning(request, f"{left} left alone: somebody has acted since you opened the page.")
            act(model_admin, request, same, reason)
            return None

        return action

    return decorate


def reason_field() -> forms.CharField:
    """For a form that stores something: the history keeps it."""
    return forms.CharField(
        label="Reason, for the record",
        max_length=REASON_MAX_LENGTH,
        error_messages={"required": "Please give a reason."},
        widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off"}),
    )


def _problem(reason: str) -> str:
    if not reason:
        return "Please give a reason."
    if len(reason) > REASON_MAX_LENGTH or not reason.isprintable():
        return f"The reason must be at most {REASON_MAX_LENGTH} printable characters."
    return ""


def _ask(
    model_admin: ModelAdmin[Any], request: HttpRequest, named: list[tuple[Model, str]], **shown: str
) -> HttpResponse:
    opts = model_admin.opts
    names = opts.verbose_name if len(named) == 1 else opts.verbose_name_plural
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"{shown['verb']} {len(named)} {names}",
        "opts": opts,
        "named": named,
        "checkbox": ACTION_CHECKBOX_NAME,
        "action": request.POST.get("action", ""),
        "reason": request.POST.get("reason", ""),
        "reason_max_length": REASON_MAX_LENGTH,
        "list_address": request.get_full_path(),
        **shown,
    }
    return TemplateResponse(request, "console/asks_first.html", context)
