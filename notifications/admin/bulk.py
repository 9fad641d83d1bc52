"""Acts on everything that matches a filter: look, confirm, watch, stop."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import AbstractUser
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Coalesce, Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from notifications import services
from notifications.admin import bulk_form
from notifications.admin.bulk_form import Confirmation
from notifications.admin.tones import STATUS_TONES
from notifications.errors import FieldError, InvalidRequest
from notifications.models import ActorKind, BulkAct, BulkStatus, Notification
from notifications.services import Actor, BulkPreview
from notifications.services.bulk import RATE_DEFAULT, RATE_MOST
from notifications.status import Status
from notifyq.console import Page, ReadOnlyAdmin, add_page, masked
from notifyq.roles import OPERATE, SEE_PRIVATE

VIEW = "notifications.view_bulkact"
PER_PAGE = 50
SILENT_SECONDS = 30.0
TONES = {
    BulkStatus.RUNNING: "busy",
    BulkStatus.STOPPED: "wait",
    BulkStatus.DONE: "good",
    BulkStatus.FAILED: "bad",
}


@admin.register(BulkAct)
class BulkActAdmin(ReadOnlyAdmin):
    """Left out of the index: the pages of this module show it better."""

    list_display = ("id", "action", "status", "actor", "done_count", "created_at")
    fields = (*list_display, "reason", "cutoff", "rate_per_second", "previewed_count", "skipped_count", "ended_at")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False


def preview(request: HttpRequest) -> HttpResponse:
    """The filter, and what the act would do. Changes nothing."""
    values = bulk_form.values_of(request.GET)
    if not values["act"]:
        return _form(request, values | {"act": "RETRY"})
    try:
        seen = services.preview_bulk(services.read_bulk(values))
    except InvalidRequest as problem:
        return _form(request, values, problem.errors)
    return _confirm(request, values, seen, Confirmation.of(seen))


def begin(request: HttpRequest) -> HttpResponse:
    """Begin what was confirmed; once for each form, however often it is sent."""
    confirmed = bulk_form.opened(request.POST.get("confirmation", ""))
    if confirmed is None:
        messages.error(request, "That preview is over an hour old, or not ours. Please look again: nothing was done.")
        return redirect("admin:bulk-preview")
    rate = request.POST.get("rate", "").strip()
    try:
        act, begun = services.begin_bulk(
            _actor(request),
            confirmed.selection,
            form_id=confirmed.form_id,
            cutoff=confirmed.cutoff,
            previewed_count=confirmed.count,
            rate_per_second=int(rate) if rate.isdecimal() and rate.isascii() and len(rate) < 10 else rate or None,
            reason=request.POST.get("reason", "").strip(),
        )
    except InvalidRequest as problem:
        seen = services.preview_bulk(confirmed.selection, confirmed.cutoff)
        values = bulk_form.values_from(confirmed.selection)
        return _confirm(request, values, seen, Confirmation.of(seen, confirmed.form_id), problem.errors)
    if not begun:
        messages.info(request, "This act has been begun already: here it is.")
    return redirect("admin:bulk-act", act.pk)


def stop(request: HttpRequest, act_id: UUID) -> HttpResponse:
    if not services.stop_bulk(act_id, _actor(request)):
        messages.warning(request, "It was not running.")
    return redirect("admin:bulk-act", _found(act_id).pk)


def resume(request: HttpRequest, act_id: UUID) -> HttpResponse:
    if not services.resume_bulk(act_id, _actor(request)):
        messages.warning(request, "It was not stopped, or another act with the same filter is running.")
    return redirect("admin:bulk-act", _found(act_id).pk)


def act_page(request: HttpRequest, act_id: UUID) -> HttpResponse:
    """One act and how far it is."""
    act = _found(act_id)
    title = f"{act.action.capitalize()} everything that matches"
    return _page(request, "console/bulk_act.html", title, **_progress(request, act))


def fresh(request: HttpRequest, act_id: UUID) -> HttpResponse:
    """Only what changes."""
    return TemplateResponse(request, "console/_bulk_act.html", _progress(request, _found(act_id)))


def listing(request: HttpRequest) -> HttpResponse:
    """The running ones, then the others, the newest first."""
    others = _acts().exclude(status=BulkStatus.RUNNING)
    before = _uuid(request.GET.get("before", ""))
    if before:
        others = others.filter(pk__lt=before)
    page = list(others.order_by("-pk")[: PER_PAGE + 1])
    running = [] if before else list(_acts().filter(status=BulkStatus.RUNNING).order_by("-pk"))
    context = {
        "acts": _shown(request, *running, *page[:PER_PAGE]),
        "next_before": page[PER_PAGE - 1].pk if len(page) > PER_PAGE else None,
        "before": before,
        "may_operate": request.user.has_perm(OPERATE),
    }
    return _page(request, "console/bulk_list.html", "Bulk acts", **context)


def _form(request: HttpRequest, values: dict[str, str], errors: tuple[FieldError, ...] = ()) -> HttpResponse:
    context = {"values": values, "errors": _by_field(errors), **bulk_form.choices(values)}
    return _page(request, "console/bulk_preview.html", "Act on everything that matches", **context)


def _confirm(
    request: HttpRequest,
    values: dict[str, str],
    seen: BulkPreview,
    confirmation: Confirmation,
    errors: tuple[FieldError, ...] = (),
) -> HttpResponse:
    may_see = request.user.has_perm(SEE_PRIVATE)
    context = {
        "values": values,
        "errors": _by_field(errors),
        **bulk_form.choices(values),
        "preview": seen,
        "verb": seen.selection.action.value.capitalize(),
        "sample": [(row, row.recipient if may_see else masked(row.recipient), _tone(row)) for row in seen.sample or ()],
        "confirmation": confirmation.sealed(),
        "rate": request.POST.get("rate", RATE_DEFAULT),
        "rate_most": RATE_MOST,
        "reason": request.POST.get("reason", ""),
        "may_be_second_copies": seen.selection.include_unsure or seen.selection.error_code == "UNCONFIRMED",
    }
    return _page(request, "console/bulk_preview.html", "Act on everything that matches", **context)


def _progress(request: HttpRequest, act: BulkAct) -> dict[str, Any]:
    left = None if act.previewed_count is None else max(0, act.previewed_count - act.done_count)
    quiet: float = getattr(act, "quiet_for").total_seconds()  # noqa: B009 (an annotation)
    return {
        **_shown(request, act)[0],
        "history": [entry | {"at": datetime.fromisoformat(entry["at"])} for entry in act.history],
        "left_seconds": None if left is None else left / act.rate_per_second,
        "gone_count": left if act.status == BulkStatus.DONE else 0,
        "silent_seconds": quiet if act.status == BulkStatus.RUNNING and quiet > SILENT_SECONDS else None,
        "may_operate": request.user.has_perm(OPERATE),
    }


def _shown(request: HttpRequest, *acts: BulkAct) -> list[dict[str, Any]]:
    may_see = request.user.has_perm(SEE_PRIVATE)
    names = bulk_form.client_names(act.selection for act in acts)
    return [
        {
            "act": act,
            "tone": TONES[BulkStatus(act.status)],
            "filter": list(bulk_form.described(act.selection, may_see=may_see, clients=names)),
        }
        for act in acts
    ]


def _acts() -> QuerySet[BulkAct]:
    # By the database's clock: the one that the workers write.
    quiet = ExpressionWrapper(Now() - Coalesce(F("worked_at"), F("created_at")), output_field=DurationField())
    return BulkAct.objects.annotate(quiet_for=quiet)


def _found(act_id: UUID) -> BulkAct:
    act = _acts().filter(pk=act_id).first()
    if act is None:
        raise Http404("there is no such act")
    return act


def _page(request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), "title": title, **context})


def _by_field(errors: tuple[FieldError, ...]) -> dict[str, str]:
    return {error.field: error.message for error in errors}


def _actor(request: HttpRequest) -> Actor:
    name = request.user.get_username() if isinstance(request.user, AbstractUser) else str(request.user)
    return Actor(ActorKind.USER, name[:150])


def _tone(row: Notification) -> str:
    return STATUS_TONES.get(Status(row.status), "quiet")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


add_page(Page("bulk/", "bulk-list", listing, VIEW))
add_page(Page("bulk/preview/", "bulk-preview", preview, OPERATE))
add_page(Page("bulk/begin/", "bulk-begin", begin, OPERATE, ("POST",)))
add_page(Page("bulk/<uuid:act_id>/", "bulk-act", act_page, VIEW))
add_page(Page("bulk/<uuid:act_id>/fresh/", "bulk-act-fresh", fresh, VIEW))
add_page(Page("bulk/<uuid:act_id>/stop/", "bulk-stop", stop, OPERATE, ("POST",)))
add_page(Page("bulk/<uuid:act_id>/resume/", "bulk-resume", resume, OPERATE, ("POST",)))
