"""Reading: what clients and operators may see of webhooks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from notifications.errors import NotFound
from notifications.models import Client
from webhooks.models import Redelivery, WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.status import EventStatus

EVENTS_SHOWN_MOST = 100
COUNTED_MOST = 2_000
"""A count of so many means that there may be more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """What a list of events is narrowed to; None means everything."""

    notification_id: UUID | None = None
    endpoint_id: UUID | None = None
    status: EventStatus | None = None


def endpoints(client: Client | None) -> QuerySet[WebhookEndpoint]:
    """The endpoints of a client, or of all (None, for an operator); deleted ones left out."""
    rows = WebhookEndpoint.objects.filter(deleted_at__isnull=True)
    return rows if client is None else rows.filter(client=client)


def endpoint(endpoint_id: UUID, client: Client | None) -> WebhookEndpoint:
    """One endpoint.

    Raises:
        NotFound: there is none, it was deleted, or it is another client's.
    """
    found = endpoints(client).filter(pk=endpoint_id).first()
    if found is None:
        raise NotFound("there is no such webhook endpoint")
    return found


def events(client: Client | None, wanted: EventFilter) -> QuerySet[WebhookEvent]:
    """Events that match, to be ordered and cut by id; without their bodies."""
    conditions = {
        "notification_id": wanted.notification_id,
        "endpoint_id": wanted.endpoint_id,
        "status": wanted.status,
    }
    given = {name: value for name, value in conditions.items() if value is not None}
    return _visible(client).filter(**given).defer("body")


def event(event_id: UUID, client: Client | None) -> WebhookEvent:
    """One event, with its endpoint loaded.

    Raises:
        NotFound: there is none, or it is another client's.
    """
    found = _visible(client).select_related("endpoint").filter(pk=event_id).first()
    if found is None:
        raise NotFound("there is no such webhook event")
    return found


def events_by_id(ids: Collection[UUID]) -> list[WebhookEvent]:
    """Those events with their endpoints, without bodies and secrets, the newest first."""
    secrets = ("endpoint__secret_encrypted", "endpoint__previous_secret_encrypted")
    rows = WebhookEvent.objects.filter(pk__in=ids).select_related("endpoint__client").defer("body", *secrets)
    return list(rows.order_by("-pk"))


def attempts(event_id: UUID) -> QuerySet[WebhookAttempt]:
    """The calls made for an event, oldest first."""
    return WebhookAttempt.objects.filter(event=event_id).order_by("id")


def latest_attempts(event_ids: Collection[UUID], limit: int) -> QuerySet[WebhookAttempt]:
    """The newest calls made for any of the events."""
    return WebhookAttempt.objects.filter(event__in=event_ids).order_by("-id")[:limit]


def endpoints_by_id(endpoint_ids: Collection[UUID]) -> dict[UUID, WebhookEndpoint]:
    """Those endpoints, also deleted ones, without their secrets."""
    return WebhookEndpoint.objects.only("url", "enabled", "description").in_bulk(list(endpoint_ids))


def count_waiting(endpoint_id: UUID) -> int:
    """The events of an endpoint that wait for a later try, at most 2,000. Index: `webhook_event_claim`."""
    rows = WebhookEvent.objects.filter(status=EventStatus.PENDING, endpoint=endpoint_id, due_at__gt=Now())
    return rows.order_by()[:COUNTED_MOST].count()


def count_cancelled(endpoint_ids: Collection[UUID]) -> int:
    """The events that were given up as their endpoint took none, at most 2,000. Index: `webhook_event_cancelled`."""
    rows = WebhookEvent.objects.filter(status=EventStatus.CANCELLED, endpoint__in=list(endpoint_ids))
    return rows.order_by()[:COUNTED_MOST].count()


def redeliveries(event_ids: Collection[UUID]) -> QuerySet[Redelivery]:
    """Who had any of the events delivered again, and why: the newest 100."""
    return Redelivery.objects.filter(event__in=event_ids).order_by("-pk")[:EVENTS_SHOWN_MOST]


def of_notification(notification_id: UUID) -> QuerySet[WebhookEvent]:
    """The events of a notification, oldest first, at most 100. Index: `webhook_event_once`."""
    rows = WebhookEvent.objects.filter(notification_id=notification_id)
    return rows.order_by("sequence", "id").defer("body")[:EVENTS_SHOWN_MOST]


def _visible(client: Client | None) -> QuerySet[WebhookEvent]:
    rows = WebhookEvent.objects.all()
    return rows if client is None else rows.filter(endpoint__client=client)
