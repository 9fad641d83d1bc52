"""Filters of the list of events, and what they are as the filter of a bulk act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest

from notifications import selectors
from notifications.admin.filters import CreatedFilter, TextFilter
from notifications.models import Client
from notifyq.console import as_uuid
from webhooks.models import WebhookEndpoint
from webhooks.services.bulk import STATUSES
from webhooks.status import EventStatus
from webhooks.story import host_of

ENDPOINTS_OFFERED = 25


class ChoiceFilter(admin.SimpleListFilter):
    """By one of its choices. Another value is refused: everything, or nothing, would be taken for an answer."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if not value:
            return queryset
        if value not in {str(choice) for choice, _ in self.lookup_choices}:
            raise IncorrectLookupParameters
        return self.narrowed(queryset, value)

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Those of the rows that the choice is of."""
        raise NotImplementedError


class EventStatusFilter(ChoiceFilter):
    """`status` has no choices in the model, and asking the table which occur would scan it."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, status.value) for status in EventStatus]

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(status=value)


class EndpointFilter(ChoiceFilter):
    """The newest endpoints, and the one that was come for."""

    title = "endpoint"
    parameter_name = "endpoint"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return endpoint_choices(request.GET.get(self.parameter_name, ""), most=ENDPOINTS_OFFERED)

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(endpoint=value)


class EventClientFilter(ChoiceFilter):
    """The endpoints of one client: a handful, which are named rather than joined."""

    title = "client"
    parameter_name = "client"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(pk), name) for pk, name in Client.objects.order_by("name").values_list("pk", "name")]

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        own = WebhookEndpoint.objects.filter(client=as_uuid(value)).values_list("pk", flat=True)
        return rows.filter(endpoint__in=list(own))


class EventErrorFilter(TextFilter):
    title = "error code"
    parameter_name = "error_code"
    column = "last_error_code"


class FailingFilter(ChoiceFilter):
    """Those that are sent to and have failed since their last success."""

    title = "failing"
    parameter_name = "failing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Yes")]

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(enabled=True, failing_since__isnull=False)


LIST_FILTERS = (EventStatusFilter, CreatedFilter, EventClientFilter, EndpointFilter, EventErrorFilter)


def endpoint_choices(chosen: str, *, most: int) -> list[tuple[str, str]]:
    """The newest endpoints by id, as (id, client and host), the chosen one among them."""
    rows = WebhookEndpoint.objects.select_related("client").only("url", "description", "client__name").order_by("-pk")
    found = list(rows.filter(deleted_at__isnull=True)[:most])
    identity = as_uuid(chosen)
    if identity and identity not in {row.pk for row in found}:
        found += list(rows.filter(pk=identity))
    return [(str(row.pk), f"{row.client.name}: {host_of(row)} …{str(row.pk)[-4:]}") for row in found]


def bulk_values(given: Mapping[str, str]) -> dict[str, str] | None:
    """What a list shows, as the preview of a bulk act takes it; None where that page could not mean the same.

    A list of every status leads to those that failed: what was delivered is sent again only when that is asked for.

    Args:
        given: the address's parameters.
    """
    known = {name: text for name, text in given.items() if text and name not in ("p", "all", "o")}
    term = as_uuid(known.pop("q", "").strip()) if "q" in known else None
    values: dict[str, str] = {
        name: known.pop(name) for name in ("status", "client", "endpoint", "error_code") if name in known
    }
    created = known.pop("created", "")
    if known or ("q" in given and given["q"].strip() and not _is_endpoint(term, values)):
        return None
    if values.setdefault("status", EventStatus.FAILED) not in STATUSES:
        return None
    if created in CreatedFilter.SPANS:
        since = selectors.database_now() - CreatedFilter.SPANS[created]
        values["after"] = f"{since:%Y-%m-%dT%H:%M:%SZ}"
    return values | ({"endpoint": str(term)} if term else {})


def _is_endpoint(term: UUID | None, values: Mapping[str, str]) -> bool:
    """The search found an endpoint, and no other was filtered by."""
    other = values.get("endpoint") not in (None, str(term))
    return not other and term is not None and WebhookEndpoint.objects.filter(pk=term).exists()
