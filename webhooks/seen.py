"""How an event stood when somebody looked at it, as a form carries it."""

from __future__ import annotations

from uuid import UUID

from webhooks.models import WebhookEvent
from webhooks.queue import Seen


def carried(event: WebhookEvent) -> str:
    """The event's id, and how it stands."""
    return f"{event.pk}:{event.cycle}:{event.status}:{event.attempt_count}"


def read_carried(text: str) -> tuple[UUID | None, Seen | None]:
    """What `carried` made; None for either part that is not readable."""
    identity, _, stood = text.partition(":")
    try:
        event_id = UUID(identity)
    except ValueError:
        event_id = None
    match stood.split(":"):
        case [cycle, status, count] if all(n.isascii() and n.isdigit() and len(n) < 6 for n in (cycle, count)):
            return event_id, Seen(int(cycle), status, int(count))
    return event_id, None
