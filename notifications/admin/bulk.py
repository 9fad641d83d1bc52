"""Acts on everything that matches a filter: look, confirm, watch, stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Coalesce, Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from notifications import heartbeats, services
from notifications.admin import bulk_form
from notifications.admin.bulk_asking import BulkAsking, Errors, Values
from notifications.admin.bulk_confirmation import Confirmation, form_context
from notifications.admin.bulk_kinds import Kind, add_kind, describe_all, kind_of, kinds
from notifications.admin.bulk_words import WORDS
from notifications.admin.story.deeds import actor_of
from notifications.admin.tones import STATUS_TONES
from notifications.admin.wording import sentences
from notifications.models import BulkAct, BulkAction, BulkStatus, Notification
from notifications.services import BulkPreview, BulkSelection
from notifications.status import Status
from notifyq.console import Page, ReadOnlyAdmin, add_page, as_uuid, masked, scrubs
from notifyq.roles import OPERATE, SEE_PRIVATE

VIEW = "notifications.view_bulkact"
PER_PAGE = 50
SILENT_SECONDS = 30.0
"""For so long an act may stand still while workers are heard of; where none is, a few heartbeats are enough."""
TONES = {
    BulkStatus.RUNNING: "busy",
    BulkStatus.STOPPED: "wait",
    BulkStatus.DONE: "good",
    BulkStatus.FAILED: "bad",
}


@admin.register(BulkAct)
class BulkActAdmin(ReadOnlyAdmin):
    """Left out of the index: the pages of this module show it better."""

    masks: ClassVar = {"reason": scrubs("reason")}
    list_display = ("id", "action", "status", "actor", "done_count", "created_at")
    fields = (*list_display, "reason", "cutoff", "rate_per_second", "previewed_count", "skipped_count", "ended_at")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False


def stop(request: HttpRequest, act_id: UUID) -> HttpResponse:
    act = _to_operate(request, act_id)
    if not services.stop_bulk(act.pk, actor_of(request.user)):
        messages.warning(request, "It was not running.")
    return redirect("admin:bulk-act", act.pk)


def resume(request: HttpRequest, act_id: UUID) -> HttpResponse:
    act = _to_operate(request, act_id)
    if not services.resume_bulk(act.pk, actor_of(request.user)):
        messages.warning(request, "It was not stopped, or another act with the same filter is running.")
    return redirect("admin:bulk-act", act.pk)


def act_page(request: HttpRequest, act_id: UUID) -> HttpResponse:
    """One act and how far it is."""
    act = _found(act_id)
    title = kind_of(act).on_all(act.action)
    return page_of(request, "console/bulk_act.html", title, **_progress(request, act))


def fresh(request: HttpRequest, act_id: UUID) -> HttpResponse:
    """Only what changes."""
    return TemplateResponse(request, "console/_bulk_act.html", _progress(request, _found(act_id)))


def listing(request: HttpRequest) -> HttpResponse:
    """The running ones, then the others, the newest first."""
    others = _acts().exclude(status=BulkStatus.RUNNING)
    before = as_uuid(request.GET.get("before", ""))
    if before:
        others = others.filter(pk__lt=before)
    page = list(others.order_by("-pk")[: PER_PAGE + 1])
    running = [] if before else list(_acts().filter(status=BulkStatus.RUNNING).order_by("-pk"))
    context = {
        "acts": _shown(request, *running, *page[:PER_PAGE]),
        "next_before": page[PER_PAGE - 1].pk if len(page) > PER_PAGE else None,
        "before": before,
        "invitations": [kind for kind in kinds() if request.user.has_perm(kind.operate)],
    }
    return page_of(request, "console/bulk_list.html", "Bulk acts", **context)


class NotificationsAsking(BulkAsking[BulkSelection, BulkPreview]):
    kind = "notifications.bulk"
    preview_name = "admin:bulk-preview"

    def values_of(self, given: Mapping[str, str]) -> Values:
        return bulk_form.values_of(given)

    def values_from(self, selection: BulkSelection) -> Values:
        return bulk_form.values_from(selection)

    def blank(self, values: Values) -> Values | None:
        return None if values["act"] else values | {"act": "RETRY"}

    def read(self, values: Values) -> BulkSelection:
        return bulk_form.read(values)

    def ids_of(self, selection: BulkSelection) -> dict[str, UUID | None]:
        return {"client": selection.client_id}

    def look(self, selection: BulkSelection, cutoff: datetime | None = None) -> BulkPreview:
        return services.preview_bulk(selection, cutoff)

    def form(self, request: HttpRequest, values: Values, errors: Errors = ()) -> HttpResponse:
        return self._page(request, values, errors)

    def confirm(
        self,
        request: HttpRequest,
        values: Values,
        seen: BulkPreview,
        confirmation: Confirmation,
        errors: Errors = (),
    ) -> HttpResponse:
        may_see = request.user.has_perm(SEE_PRIVATE)
        more = {
            **form_context(request, seen, confirmation, self.kind),
            "sample": [
                (row, row.recipient if may_see else masked(row.recipient), _tone(row)) for row in seen.sample or ()
            ],
            "may_be_second_copies": seen.selection.action is BulkAction.RETRY
            and (seen.selection.include_unsure or seen.selection.error_code == "UNCONFIRMED"),
            "has_ended": seen.selection.instant_column == "finished_at",
        }
        return self._page(request, values, errors, **more)

    def _page(self, request: HttpRequest, values: Values, errors: Errors, **more: Any) -> HttpResponse:
        shown = bulk_form.shown(values, may_see=request.user.has_perm(SEE_PRIVATE))
        context = {
            "values": shown,
            "errors": sentences(errors, bulk_form.SUBJECTS),
            **bulk_form.choices(values),
            **more,
        }
        return page_of(request, "console/bulk_preview.html", "Act on everything that matches", **context)


def _progress(request: HttpRequest, act: BulkAct) -> dict[str, Any]:
    left = None if act.previewed_count is None else max(0, act.previewed_count - act.done_count)
    return {
        **_shown(request, act)[0],
        "history": [entry | {"at": datetime.fromisoformat(entry["at"])} for entry in act.history],
        "left_seconds": None if left is None else left / act.rate_per_second,
        "gone_count": left if act.status == BulkStatus.DONE else 0,
        "may_operate": request.user.has_perm(kind_of(act).operate),
    }


def _shown(request: HttpRequest, *acts: BulkAct) -> list[dict[str, Any]]:
    filters = describe_all(acts, may_see=request.user.has_perm(SEE_PRIVATE))
    is_delivering = heartbeats.is_delivering()
    return [
        {
            "act": act,
            "kind": kind_of(act),
            "words": kind_of(act).words[act.action],
            "on_many": kind_of(act).on_many(act.action),
            "tone": TONES[BulkStatus(act.status)],
            "filter": filters[act.pk],
            "silent_seconds": silent_seconds(act, is_delivering=is_delivering),
            "nobody_works": not is_delivering,
        }
        for act in acts
    ]


def silent_seconds(act: BulkAct, *, is_delivering: bool) -> float | None:
    """How long no worker has worked on a running act, where that is too long; None otherwise.

    Args:
        act: with `quiet_for`, as an annotation.
        is_delivering: whether some delivery worker was heard of just now.
    """
    quiet: float = getattr(act, "quiet_for").total_seconds()  # noqa: B009 (an annotation)
    patience = SILENT_SECONDS if is_delivering else heartbeats.late_after_seconds()
    return quiet if act.status == BulkStatus.RUNNING and quiet > patience else None


def _acts() -> QuerySet[BulkAct]:
    # By the database's clock: the one that the workers write.
    quiet = ExpressionWrapper(Now() - Coalesce(F("worked_at"), F("created_at")), output_field=DurationField())
    return BulkAct.objects.annotate(quiet_for=quiet)


def _found(act_id: UUID) -> BulkAct:
    act = _acts().filter(pk=act_id).first()
    if act is None:
        raise Http404("there is no such act")
    return act


def _to_operate(request: HttpRequest, act_id: UUID) -> BulkAct:
    """The act, for those who may begin one of its kind."""
    act = _found(act_id)
    if not request.user.has_perm(kind_of(act).operate):
        raise PermissionDenied
    return act


def page_of(request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
    """A page of the console."""
    return TemplateResponse(request, template, {**admin.site.each_context(request), "title": title, **context})


def _tone(row: Notification) -> str:
    return STATUS_TONES.get(Status(row.status), "quiet")


ASKING = NotificationsAsking()
add_kind(
    Kind(
        noun="notification",
        operate=OPERATE,
        preview_name=ASKING.preview_name,
        invitation="Act on notifications that match…",
        describe=bulk_form.describe,
        words=WORDS,
    ),
)
add_page(Page("bulk/", "bulk-list", listing, VIEW))
add_page(Page("bulk/preview/", "bulk-preview", ASKING.preview, OPERATE))
add_page(Page("bulk/begin/", "bulk-begin", ASKING.begin, OPERATE, ("POST",)))
add_page(Page("bulk/<uuid:act_id>/", "bulk-act", act_page, VIEW))
add_page(Page("bulk/<uuid:act_id>/fresh/", "bulk-act-fresh", fresh, VIEW))
add_page(Page("bulk/<uuid:act_id>/stop/", "bulk-stop", stop, VIEW, ("POST",)))
add_page(Page("bulk/<uuid:act_id>/resume/", "bulk-resume", resume, VIEW, ("POST",)))
