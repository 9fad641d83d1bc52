"""Sending events once more, or for a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from notifications.models import Client
from notifications.queue import Act, Actor
from notifications.selectors import database_now
from webhooks import queue, selectors
from webhooks.errors import BeingDelivered, EndpointDisabled, MovedMeanwhile
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.queue import Replayed, Seen
from webhooks.request import check_replay
from webhooks.status import EventStatus

REASON_MAX_LENGTH = 500


def send_test(endpoint_id: UUID, client: Client | None) -> WebhookEvent:
    """An event of the type `webhook.test`, delivered like any other.

    Raises:
        NotFound: there is no such endpoint, or it is another client's.
        EndpointDisabled: it takes none.
    """
    return queue.add_test_event(_enabled(selectors.endpoint(endpoint_id, client)))


def replay(endpoint_id: UUID, client: Client | None, raw: Mapping[str, Any]) -> Replayed:
    """Queue again what was finished in a range of time, the oldest first, at most 1,000 at a time.

    Args:
        raw: `since` (required), `until`, `status` (a list of final ones).

    Raises:
        NotFound: there is no such endpoint, or it is another client's.
        InvalidRequest: with all that is wrong.
        EndpointDisabled: it takes none.
    """
    endpoint = selectors.endpoint(endpoint_id, client)
    wanted = check_replay(raw, now=database_now())
    _enabled(endpoint)
    return queue.replay(endpoint.pk, since=wanted.since, until=wanted.until, statuses=wanted.statuses)


def redeliver(
    event_id: UUID, client: Client | None, *, seen: Seen | None = None, actor: Actor | None = None, reason: str = ""
) -> WebhookEvent:
    """Have one event delivered now, whatever became of it, with its id and body as they were.

    Args:
        seen: how it stood when the caller looked; where it is no longer so, nothing is done.
        actor, reason: who does it and why, for the record; None for its owner, of whose calls there is none.

    Raises:
        NotFound: there is none, or it is another client's.
        EndpointDisabled: its endpoint takes none, or was deleted.
        BeingDelivered: it is on its way.
        MovedMeanwhile: it is not as it was seen.
    """
    event = selectors.event(event_id, client)
    _enabled(event.endpoint)
    if not queue.requeue(event.pk, seen, Act(actor, reason[:REASON_MAX_LENGTH]) if actor else None):
        if seen is not None and selectors.event(event_id, client).status != EventStatus.PROCESSING:
            raise MovedMeanwhile("the event has moved on")
        raise BeingDelivered("the event is being delivered at this moment")
    return selectors.event(event_id, client)


def _enabled(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    if not endpoint.enabled:
        raise EndpointDisabled("the endpoint is disabled")
    return endpoint
