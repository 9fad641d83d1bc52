"""Having everything that matches delivered again: look, and confirm. The rest is that of every bulk act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from notifications.admin.bulk import by_field, page_of
from notifications.admin.bulk_confirmation import (
    Confirmation,
    begin_confirmed,
    form_context,
    opened,
    tell_changed,
    too_old,
)
from notifications.admin.bulk_form import client_choices, client_names, pickers
from notifications.admin.bulk_kinds import Described, Kind, add_kind
from notifications.errors import FieldError, InvalidRequest
from notifications.models import BulkAction
from notifications.status import FINAL as OUTCOMES
from notifyq.console import Page, add_page, badge, instant
from webhooks import selectors, services
from webhooks.admin.filters import endpoint_choices
from webhooks.queue import EventSelection
from webhooks.services import RedeliveryPreview
from webhooks.services.bulk import FINISHED, STATUSES
from webhooks.status import EventStatus
from webhooks.story import OPERATE, answer_of, host_of
from webhooks.tones import TONES

KIND = "webhooks.bulk"
NAMES = ("status", "endpoint", "client", "type", "error_code", "after", "before")
ENDPOINTS_OFFERED = 500
TYPES = (*(f"notification.{status.lower()}" for status in sorted(OUTCOMES)), "webhook.test")


def preview(request: HttpRequest) -> HttpResponse:
    """The filter, and what would be delivered again. Changes nothing."""
    values = _values_of(request.GET)
    if not any(values.values()):
        return _form(request, values)
    try:
        selection = services.read_redelivery(values)
    except InvalidRequest as problem:
        return _form(request, values, problem.errors)
    return _look(request, values, selection)


def begin(request: HttpRequest) -> HttpResponse:
    """Begin what was confirmed; once for each form, however often it is sent."""
    confirmed = opened(request.POST.get("confirmation", ""), KIND)
    if confirmed is None:
        return too_old(request, "admin:webhook-redeliver-preview")
    values = _values_of(request.POST)
    try:
        selection = services.read_redelivery(values)
    except InvalidRequest as problem:
        return _form(request, values, problem.errors)
    if selection.as_json() != confirmed.stored:
        tell_changed(request)
        return _look(request, values, selection)

    def ask_again(errors: tuple[FieldError, ...]) -> HttpResponse:
        seen = services.preview_redelivery(selection, confirmed.cutoff)
        return _confirm(request, _values_from(confirmed.stored), seen, Confirmation.of(seen, confirmed.form_id), errors)

    return begin_confirmed(request, confirmed, selection, ask_again)


def describe(selections: Sequence[Mapping[str, Any]], may_see: bool) -> list[Described]:
    """Stored filters in words. They hold nothing private."""
    clients = client_names(selections)
    endpoints = selectors.endpoints_by_id({UUID(s["endpoint_id"]) for s in selections if "endpoint_id" in s})
    hosts = {str(pk): f"{host_of(row)} …{str(pk)[-4:]}" for pk, row in endpoints.items()}
    return [_described(selection, clients, hosts) for selection in selections]


def _described(stored: Mapping[str, Any], clients: Mapping[str, str], hosts: Mapping[str, str]) -> Described:
    shown: Described = [("status", stored.get("status", "any that is finished"))]
    for name, names in (("client", clients), ("endpoint", hosts)):
        identity = stored.get(f"{name}_id")
        shown += [(name, names.get(identity, identity))] if identity else []
    shown += [(name.replace("_", " "), stored[name]) for name in ("type", "error_code") if name in stored]
    instants = (("after", "created from"), ("before", "created before"))
    shown += [(word, instant(datetime.fromisoformat(stored[name]))) for name, word in instants if name in stored]
    return shown


def _values_of(given: Mapping[str, str]) -> dict[str, str]:
    return {name: given.get(name, "").strip() for name in NAMES}


def _values_from(stored: Mapping[str, Any]) -> dict[str, str]:
    """A stored filter as it is typed."""
    given = {"status": FINISHED} | dict(stored)
    given |= {name: given.get(f"{name}_id", "") for name in ("endpoint", "client")}
    return {name: str(given.get(name, "")) for name in NAMES}


def _form(request: HttpRequest, values: dict[str, str], errors: tuple[FieldError, ...] = ()) -> HttpResponse:
    return _page(request, values, errors)


def _look(request: HttpRequest, values: dict[str, str], selection: EventSelection) -> HttpResponse:
    seen = services.preview_redelivery(selection)
    # By their ids: the form offers them by those, and shows what was read.
    ids = {"client": selection.client_id, "endpoint": selection.endpoint_id}
    read = values | {name: str(identity) for name, identity in ids.items() if identity}
    return _confirm(request, read, seen, Confirmation.of(seen))


def _confirm(
    request: HttpRequest,
    values: dict[str, str],
    seen: RedeliveryPreview,
    confirmation: Confirmation,
    errors: tuple[FieldError, ...] = (),
) -> HttpResponse:
    sample = [
        (row, host_of(row.endpoint), answer_of(row), badge(row.status, TONES[EventStatus(row.status)]))
        for row in seen.sample or ()
    ]
    return _page(request, values, errors, **form_context(request, seen, confirmation, KIND), sample=sample)


def _page(request: HttpRequest, values: dict[str, str], errors: tuple[FieldError, ...], **more: Any) -> HttpResponse:
    context = {
        "values": values,
        "errors": by_field(errors),
        "statuses": [(value, "any that is finished" if value == FINISHED else value) for value in STATUSES],
        "endpoints": endpoint_choices(values["endpoint"], most=ENDPOINTS_OFFERED),
        "clients": client_choices(),
        "types": TYPES,
        "pickers": pickers(values, ("after", "before")),
        **more,
    }
    return page_of(request, "console/redeliver_preview.html", "Redeliver every webhook event that matches", **context)


add_kind(
    [BulkAction.REDELIVER],
    Kind(
        noun="webhook event",
        operate=OPERATE,
        preview_name="admin:webhook-redeliver-preview",
        invitation="Redeliver webhook events that match…",
        describe=describe,
        left_alone="their endpoint is disabled or deleted",
        moved_on="redelivered by somebody else meanwhile",
    ),
)
add_page(Page("webhooks/webhookevent/redeliver-all/", "webhook-redeliver-preview", preview, OPERATE))
add_page(Page("webhooks/webhookevent/redeliver-all/begin/", "webhook-redeliver-begin", begin, OPERATE, ("POST",)))
