"""Actions of the stock lists that ask first: what is meant is shown, and a reason wanted, before anything is done.

What is meant are the ticked rows, or all that match the filter of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.http import urlencode

ASKED_MOST = 400
"""Two fields of the form name each: Django refuses a form of more than a thousand."""
TOLD_MOST = 10
REASON_MAX_LENGTH = 255
Act = Callable[..., None]
Sentence = Sequence[str | datetime | timedelta]
"""What the template filter `said` takes."""
Action = Callable[[Any, HttpRequest, QuerySet[Any]], HttpResponse | None]


class AskedForm(forms.Form):
    """Values that an action needs. What would come of them is shown for each row before it is done."""

    def becomes(self, row: Any) -> str:
        """What a row would be with these values; empty when it stays as it is. Asked of a valid form alone."""
        raise NotImplementedError

    @property
    def typed(self) -> str:
        """What was typed, to be held against what it was shown for."""
        return urlencode([(name, str(self.data.get(name, "")).strip()) for name in self.fields])


@dataclass(frozen=True, slots=True)
class Named:
    """A row that is meant.

    Attributes:
        seen: which it is, and how it stands.
        becomes: see `AskedForm`.
        state: how it stands, for people.
    """

    row: Model
    seen: str
    becomes: str = ""
    state: Sentence = ()


def nothing(row: Model) -> str:
    """For acts that can happen to a row only once."""
    return ""


def unsaid(row: Model) -> Sentence:
    """For rows whose names say all there is to know."""
    return ()


def asks_first(
    verb: str,
    effect: str,
    *,
    stand: Callable[[Any], str] = nothing,
    state: Callable[[Any], Sentence] = unsaid,
    form: type[AskedForm] | None = None,
) -> Callable[[Act], Action]:
    """Make an action out of an act that is done to rows for a reason.

    A form that is sent twice, or from a second window, leaves alone what was acted upon since it was shown.

    Args:
        verb: on the button; the rows are named below it.
        effect: what it does, in a sentence.
        stand: how a row stands; when that has changed since the page was shown, the row is left alone.
        state: the same for people, shown beside the row's name.
        form: asks for what the act needs beside rows and reason. It is handed to the act after these: valid, and as it
            was when the page showed what would come of it.
    """

    def decorate(act: Act) -> Action:
        @wraps(act)
        def action(model_admin: ModelAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
            rows = list(queryset[: ASKED_MOST + 1])
            if len(rows) > ASKED_MOST:
                messages.warning(request, _too_many(queryset.count()))
                return None
            values = form(request.POST if {"look", "confirmed"} & request.POST.keys() else None) if form else None
            is_valid = values is None or values.is_valid()
            named = [
                Named(row, f"{row.pk}:{stand(row)}", values.becomes(row) if values and is_valid else "", state(row))
                for row in rows
            ]
            asked = {"verb": verb, "effect": effect, "form": values, "is_shown": is_valid}
            if not is_valid or "confirmed" not in request.POST:
                return _ask(model_admin, request, named, **asked)
            reason = request.POST.get("reason", "").strip()
            if errors := _errors(reason, values, request.POST.get("looked", "")):
                return _ask(model_admin, request, named, errors=errors, **asked)
            same = _unchanged(request, named)
            act(model_admin, request, same, reason, *([values] if values else []))
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


def tell(request: HttpRequest, lines: Sequence[str], together: str, level: int = messages.SUCCESS) -> None:
    """Say what came of an act: of each row, or of all together where they are many."""
    for line in lines if len(lines) <= TOLD_MOST else [together]:
        messages.add_message(request, level, line)


def _too_many(count: int) -> str:
    return f"Nothing was done: these are {count}, and at most {ASKED_MOST} can be done at once. Filter the list first."


def _errors(reason: str, values: AskedForm | None, looked: str) -> dict[str, str]:
    """What is wrong, by the field that it is told at; by no name, of none."""
    if values is not None and values.typed != looked:
        return {"": "The values have changed since the page showed what comes of them: look again."}
    if not reason:
        return {"reason": "Please give a reason."}
    if len(reason) > REASON_MAX_LENGTH or not reason.isprintable():
        return {"reason": f"The reason must be at most {REASON_MAX_LENGTH} printable characters."}
    return {}


def _unchanged(request: HttpRequest, named: Sequence[Named]) -> list[Any]:
    """Those that stand as they were shown; how many do not is told."""
    shown = set(request.POST.getlist("seen"))
    same = [it.row for it in named if it.seen in shown]
    if len(same) < len(shown):
        left = len(shown) - len(same)
        messages.warning(request, f"{left} left alone: somebody has acted since you opened the page.")
    return same


def _all_matching(model_admin: ModelAdmin[Any], request: HttpRequest, ticked_count: int) -> int:
    """How many match the filter of the list on which these were ticked; 0 where that is no more than they are."""
    if "index" not in request.POST or request.POST.get("select_across") == "1":
        return 0
    count: int = model_admin.get_changelist_instance(request).queryset.count()
    return count if count > ticked_count else 0


def _ask(model_admin: ModelAdmin[Any], request: HttpRequest, named: Sequence[Named], **shown: Any) -> HttpResponse:
    opts, values = model_admin.opts, shown["form"]
    is_preview = bool(values and shown["is_shown"])
    count = sum(1 for it in named if it.becomes) if is_preview else len(named)
    names = opts.verbose_name if count == 1 else opts.verbose_name_plural
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"{shown['verb']} {count} {names}",
        "opts": opts,
        "named": named,
        "count": count,
        "is_preview": is_preview,
        "all_count": _all_matching(model_admin, request, len(named)),
        "asked_most": ASKED_MOST,
        "checkbox": ACTION_CHECKBOX_NAME,
        "action": request.POST.get("action", ""),
        "reason": request.POST.get("reason", ""),
        "reason_max_length": REASON_MAX_LENGTH,
        "list_address": request.get_full_path(),
        **shown,
    }
    return TemplateResponse(request, "console/asks_first.html", context)
