"""Having everything that matches delivered again: look, and confirm. The rest is that of every bulk act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from notifications.admin.bulk import page_of
from notifications.admin.bulk_asking import BulkAsking, Errors, Values
from notifications.admin.bulk_confirmation import Confirmation, form_context
from notifications.admin.bulk_form import client_choices, client_names, pickers
from notifications.admin.bulk_kinds import Described, Kind, Words, add_kind
from notifications.admin.wording import sentences
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

NAMES = ("status", "endpoint", "client", "type", "error_code", "after", "before")
SUBJECTS = {
    "status": "“Status”",
    "client": "“Client”",
    "endpoint": "“Endpoint”",
    "type": "“Type”",
    "error_code": "“Last error code”",
    "after": "“Created from”",
    "before": "“Created before”",
    "reason": "The reason",
    "rate": "“At most so many a second”",
}
"""What sentences call the fields, in the order of the page."""
ENDPOINTS_OFFERED = 500
_OFFERED = {FINISHED: "any that is finished", EventStatus.PENDING: "PENDING: waits for a later try"}
TYPES = (*(f"notification.{status.lower()}" for status in sorted(OUTCOMES)), "webhook.test")


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


class RedeliveryAsking(BulkAsking[EventSelection, RedeliveryPreview]):
    kind = "webhooks.bulk"
    preview_name = "admin:webhook-redeliver-preview"

    def values_of(self, given: Mapping[str, str]) -> Values:
        return {name: given.get(name, "").strip() for name in NAMES}

    def values_from(self, selection: EventSelection) -> Values:
        given: dict[str, Any] = {"status": FINISHED} | selection.as_json()
        given |= {name: given.get(f"{name}_id", "") for name in ("endpoint", "client")}
        return {name: str(given.get(name, "")) for name in NAMES}

    def blank(self, values: Values) -> Values | None:
        return None if any(values.values()) else values

    def read(self, values: Values) -> EventSelection:
        return services.read_redelivery(values)

    def ids_of(self, selection: EventSelection) -> dict[str, UUID | None]:
        return {"client": selection.client_id, "endpoint": selection.endpoint_id}

    def look(self, selection: EventSelection, cutoff: datetime | None = None) -> RedeliveryPreview:
        return services.preview_redelivery(selection, cutoff)

    def form(self, request: HttpRequest, values: Values, errors: Errors = ()) -> HttpResponse:
        return _page(request, values, errors)

    def confirm(
        self,
        request: HttpRequest,
        values: Values,
        seen: RedeliveryPreview,
        confirmation: Confirmation,
        errors: Errors = (),
    ) -> HttpResponse:
        sample = [
            (row, host_of(row.endpoint), answer_of(row), badge(row.status, TONES[EventStatus(row.status)]))
            for row in seen.sample or ()
        ]
        told = form_context(request, seen, confirmation, self.kind) | {"sample": sample}
        return _page(request, values, errors, **told, waiting_query=_waiting_query(values))


def _waiting_query(values: Values) -> str:
    """Of the look at what waits instead."""
    return urlencode({name: text for name, text in values.items() if text} | {"status": EventStatus.PENDING})


def _page(request: HttpRequest, values: Values, errors: Errors, **more: Any) -> HttpResponse:
    context = {
        "values": values,
        "errors": sentences(errors, SUBJECTS),
        "statuses": [(value, _OFFERED.get(value, value)) for value in STATUSES],
        "endpoints": endpoint_choices(values["endpoint"], most=ENDPOINTS_OFFERED),
        "clients": client_choices(),
        "types": TYPES,
        "pickers": pickers(values, ("after", "before")),
        **more,
    }
    return page_of(request, "console/redeliver_preview.html", "Redeliver every webhook event that matches", **context)


ASKING = RedeliveryAsking()
add_kind(
    Kind(
        noun="webhook event",
        operate=OPERATE,
        preview_name=ASKING.preview_name,
        invitation="Redeliver webhook events that match…",
        describe=describe,
        words={
            BulkAction.REDELIVER: Words(
                verb="Redeliver",
                on="Redeliver {}",
                effect="Each is delivered once more. What fails again is not delivered again by this act.",
                left_alone="their endpoint is disabled or deleted",
                moved_on="redelivered by somebody else meanwhile, or tried since the look",
            )
        },
    ),
)
add_page(Page("webhooks/webhookevent/redeliver-all/", "webhook-redeliver-preview", ASKING.preview, OPERATE))
add_page(
    Page("webhooks/webhookevent/redeliver-all/begin/", "webhook-redeliver-begin", ASKING.begin, OPERATE, ("POST",))
)
