"""What the front page tells of endpoints: a few looks, each bounded, however many events there are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models.functions import Now

from webhooks import selectors
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.queue import DISABLE_AFTER
from webhooks.status import EventStatus
from webhooks.story import answer_of, host_of

ENDPOINTS_MOST = 500


@dataclass(frozen=True, slots=True)
class Failing:
    """The endpoint that has failed for longest of those that do; `count` of them in all.

    Attributes:
        place: its description or host, as in the lists.
        answer: the last one to an event that waits; empty when there is none.
        disabled_at: when the service gives it up, if nothing succeeds before.
        waiting_count: the events that wait for any of them.
    """

    id: UUID
    place: str
    client: str
    since: datetime
    disabled_at: datetime
    answer: str
    waiting_count: int
    count: int


def failing(after_seconds: float) -> Failing | None:
    """None when no enabled endpoint has failed for so long."""
    since = Now() - timedelta(seconds=after_seconds)
    rows = WebhookEndpoint.objects.filter(enabled=True, failing_since__lte=since).select_related("client")
    found = list(
        rows.only("url", "description", "failing_since", "client__name").order_by("failing_since", "pk")[
            :ENDPOINTS_MOST
        ]
    )
    if not found:
        return None
    first = found[0]
    began = first.failing_since or first.updated_at
    return Failing(
        id=first.pk,
        place=host_of(first),
        client=first.client.name,
        since=began,
        disabled_at=began + DISABLE_AFTER,
        answer=_answer(first.pk),
        waiting_count=_waiting([row.pk for row in found]),
        count=len(found),
    )


def count_missed() -> int:
    """The events that were cancelled for endpoints which the service has disabled, at most 2,000."""
    rows = WebhookEndpoint.objects.exclude(disabled_reason="").filter(deleted_at__isnull=True)
    return selectors.count_cancelled(rows.order_by("-disabled_at").values_list("pk", flat=True)[:ENDPOINTS_MOST])


def _waiting(endpoint_ids: Collection[UUID]) -> int:
    """Index: `webhook_event_claim`."""
    rows = WebhookEvent.objects.filter(endpoint__in=endpoint_ids, status=EventStatus.PENDING)
    return rows.order_by()[: selectors.COUNTED_MOST].count()


def _answer(endpoint_id: UUID) -> str:
    """What is due the latest has been tried. Index: the end of `webhook_event_claim` within the endpoint."""
    waiting = WebhookEvent.objects.filter(endpoint=endpoint_id, status=EventStatus.PENDING)
    last = waiting.order_by("-due_at", "-id").only("attempt_count", "last_error_code", "last_response_status").first()
    return answer_of(last) if last and last.attempt_count else ""
