"""What an endpoint was not told: what waits for a later try, what was cancelled, and where to have it delivered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from notifyq.console.asking import TOLD_MOST
from webhooks import selectors
from webhooks.models import WebhookEndpoint
from webhooks.status import EventStatus


def listed(endpoint_id: UUID, status: EventStatus | None = None) -> str:
    """The address of the list of its events."""
    return _with(reverse("admin:webhooks_webhookevent_changelist"), endpoint_id, status)


def to_redeliver(endpoint_id: UUID | None, status: EventStatus) -> str:
    """The address of the look at what a bulk act would deliver."""
    return _with(reverse("admin:webhook-redeliver-preview"), endpoint_id, status)


def backlog_of(endpoint: WebhookEndpoint, may_act: bool) -> dict[str, Any]:
    """For the page of an endpoint.

    Args:
        may_act: the person may redeliver, and the endpoint is not deleted.
    """
    return {
        "waiting": selectors.count_waiting(endpoint.pk),
        "cancelled": selectors.count_cancelled([endpoint.pk]),
        "counted_most": selectors.COUNTED_MOST,
        "may_act": may_act,
        "may_enable": may_act and not endpoint.enabled,
        "waiting_list": listed(endpoint.pk, EventStatus.PENDING),
        "cancelled_list": listed(endpoint.pk, EventStatus.CANCELLED),
        "deliver_waiting": to_redeliver(endpoint.pk, EventStatus.PENDING),
        "deliver_cancelled": to_redeliver(endpoint.pk, EventStatus.CANCELLED),
    }


def tell_missed(request: HttpRequest, enabled: Sequence[WebhookEndpoint]) -> None:
    """Lead from endpoints that take events again to what was cancelled for them."""
    if len(enabled) > TOLD_MOST:
        _tell(request, "them", selectors.count_cancelled([row.pk for row in enabled]), None)
        return
    for row in enabled:
        _tell(request, str(row), selectors.count_cancelled([row.pk]), row.pk)


def _tell(request: HttpRequest, whose: str, count: int, endpoint_id: UUID | None) -> None:
    if not count:
        return
    many = f"{count:,}{'+' if count >= selectors.COUNTED_MOST else ''}"
    said = '{} {} cancelled for {} and {} so: <a href="{}">{}</a>'
    act = "Redeliver them…" if endpoint_id else "Redeliver what was cancelled, for any endpoint…"
    was = ("event was", "stays") if count == 1 else ("events were", "stay")
    address = to_redeliver(endpoint_id, EventStatus.CANCELLED)
    messages.warning(request, format_html(said, many, was[0], whose, was[1], address, act))


def _with(address: str, endpoint_id: UUID | None, status: EventStatus | None) -> str:
    given = {"endpoint": endpoint_id, "status": status}
    return f"{address}?{urlencode({name: str(value) for name, value in given.items() if value})}"
