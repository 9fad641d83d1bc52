"""The page between the ticks and the act: what can be done to which of them, and why; then it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from uuid import UUID

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join

from notifications import selectors, services
from notifications.admin.rows import link_to
from notifications.admin.story.deeds import DEEDS, Unclear, Values, actor_of, faults_in, in_words, reason_of, send_at_of
from notifications.admin.ticked.look import Chosen, Look, look_at, read_chosen
from notifications.admin.ticked.origin import WORDINGS, Origin, Wording
from notifications.admin.typed import marked
from notifications.errors import InvalidRequest, NotifyError, PastExpiry
from notifications.services import Actor
from notifications.story.acts import Deed
from notifyq.console import Page
from notifyq.roles import OPERATE

NO_ERRORS: Mapping[str, str] = MappingProxyType({})
TOLD_MOST = 5
TICKED_MOST = 200
"""As many as any list shows on one page."""


def page_for(origin: Origin) -> Page:
    """The page that the form of this list is posted to."""
    return Page(origin.path, origin.act_name, partial(act, origin=origin), OPERATE, ("GET", "HEAD", "POST"))


def act(request: HttpRequest, *, origin: Origin) -> HttpResponse:
    """Show what was chosen and ask for a reason; when that is given, by POST, do it and go back to the list."""
    data = request.POST if request.method == "POST" else request.GET
    deed, chosen = origin.deed(data.get("act", "")), read_chosen(data.getlist("row"))
    if deed is None or not 0 < len(chosen) <= TICKED_MOST:
        messages.warning(request, f"Nothing was done: {_unclear(deed, chosen)}.")
        return redirect(origin.list_address(data.get("back", "")))
    was_shown = "confirmed" in data and all(each.last_act_id is not None for each in chosen)
    if request.method != "POST" or not was_shown:
        return _ask(request, origin, deed, look_at(request, deed, chosen))
    return _confirmed(request, origin, deed, chosen)


def _unclear(deed: Deed | None, chosen: Sequence[Chosen]) -> str:
    if len(chosen) > TICKED_MOST:
        return f"tick at most {TICKED_MOST}, or act on everything that matches"
    return "say what to do with them" if chosen and deed is None else "tick at least one notification"


def _confirmed(request: HttpRequest, origin: Origin, deed: Deed, chosen: Sequence[Chosen]) -> HttpResponse:
    """Do it; ask again when the form does not say what it has to, or would do less than the page has shown."""
    send_at = None
    try:
        reason = reason_of(request.POST)
        if deed is Deed.RESCHEDULE:
            send_at = _send_at(request.POST)
            _refuse_when_fewer(look_at(request, deed, chosen, send_at), request.POST.get("late", ""))
        problems = _do(deed, chosen, actor_of(request.user), reason, _values(send_at))
    except (Unclear, InvalidRequest) as unclear:
        return _ask(request, origin, deed, look_at(request, deed, chosen, send_at), faults_in(unclear, request.POST))
    _tell(request, deed, [each.id for each in chosen], problems)
    return redirect(origin.list_address(request.POST.get("back", "")))


def _send_at(data: QueryDict) -> datetime:
    """One time for all, also where a delay is given."""
    values = {field.name: data.get(field.name, "") for field in WORDINGS[Deed.RESCHEDULE].fields}
    return send_at_of(values, selectors.database_now())


def _values(send_at: datetime | None) -> Values:
    """As the form of a single one holds them."""
    return {} if send_at is None else {"at": send_at.astimezone(UTC).isoformat()}


def _refuse_when_fewer(look: Look, known: str) -> None:
    """Args: known: how many of them are known to be too late, to whoever confirms."""
    late, count = look.late_count, len(look.doable)
    if late and (late == count or known != str(late)):
        some = "All of them" if late == count else f"{late} of them"
        raise Unclear(
            f"{some} would be past their time to live by then, and left alone. Change the time, or go on.", "at"
        )


def _ask(
    request: HttpRequest, origin: Origin, deed: Deed, look: Look, errors: Mapping[str, str] = NO_ERRORS
) -> HttpResponse:
    data: QueryDict = request.POST if request.method == "POST" else request.GET
    wording = WORDINGS[deed]
    context = {
        **admin.site.each_context(request),
        "title": _title(wording, len(look.doable) - look.late_count),
        "deed": deed,
        "wording": wording,
        "origin": origin,
        "look": look,
        "fields": marked((replace(f, value=data.get(f.name, "")) for f in wording.fields), errors),
        "reason": data.get("reason", ""),
        "is_waiting": deed in (Deed.CANCEL, Deed.RESCHEDULE),
        "held_count": sum(shown.row.is_held for shown in look.doable),
        "back": origin.list_address(data.get("back", "")),
        "back_query": data.get("back", ""),
        "errors": errors,
    }
    return TemplateResponse(request, "console/ticked.html", context)


def _title(wording: Wording, count: int) -> str:
    return wording.on(count) if count else f"{wording.verb}: nothing to do it to"


def _do(deed: Deed, chosen: Sequence[Chosen], actor: Actor, reason: str, values: Values) -> dict[str, list[UUID]]:
    """Each by itself, so that one that moved on stops no other. Returns why some were left alone,
    each reason with their ids.

    Raises:
        InvalidRequest: the reason or the time is none that can be taken. That holds for all alike: none was touched.
    """
    problems: dict[str, list[UUID]] = {}
    for each in chosen:
        problem = ""
        try:
            with services.as_seen(each.id, each.last_act_id or 0):
                DEEDS[deed](each.id, actor, reason, values)
        except InvalidRequest:
            raise
        except PastExpiry:
            problem = "Its time to live stands against it."  # without its end: each has another
        except (Unclear, NotifyError) as refused:
            problem = in_words(refused)
        if problem:
            problems.setdefault(problem, []).append(each.id)
    return problems


def _tell(request: HttpRequest, deed: Deed, ids: Sequence[UUID], problems: Mapping[str, Sequence[UUID]]) -> None:
    """With links to them where they are few: many have gone from the list by what was done."""
    left = {identity for some in problems.values() for identity in some}
    done = [identity for identity in ids if identity not in left]
    if done:
        told = f"{WORDINGS[deed].verb}: done for {len(done)} of {len(ids)}."
        messages.success(request, format_html("{}{}", told, _named(done)))
    for problem, some in problems.items():
        told = f"{len(some)} left alone: {problem[:1].lower()}{problem[1:]}"
        messages.warning(request, format_html("{}{}", told, _named(some)))


def _named(ids: Sequence[UUID]) -> str:
    if len(ids) > TOLD_MOST:
        return ""
    return format_html(" See {}.", format_html_join(", ", "{}", ((link_to(identity),) for identity in ids)))
