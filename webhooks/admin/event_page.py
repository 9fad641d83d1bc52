"""The page of one webhook event: how it stands, its tries, what people did, and a form to have it delivered again."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from notifications import selectors as clock
from notifications.admin.typed import put_back
from notifications.story.acts import Field, Form
from webhooks import selectors
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.seen import carried
from webhooks.standing import EventFacts, closed, standing
from webhooks.status import EventStatus
from webhooks.story import OPERATE, REASON, REDELIVER, answer_of, host_of
from webhooks.tones import TONES

TRIES_SHOWN_MOST = 100


def page_of(request: HttpRequest, event: WebhookEvent) -> dict[str, Any]:
    """All that the template needs to show one."""
    facts = facts_of(event)
    forms = [_form(event)] if _can_be_redelivered(event) and request.user.has_perm(OPERATE) else []
    return {
        "event": event,
        "endpoint": event.endpoint,
        "place": host_of(event.endpoint),
        "facts": facts,
        "tone": TONES.get(facts.status, "quiet"),
        "standing": standing(facts, clock.database_now()),
        "tries": list(selectors.latest_attempts([event.pk], TRIES_SHOWN_MOST)),
        "acts": list(selectors.redeliveries([event.pk])),
        "forms": put_back(request, forms),
        "may_operate": request.user.has_perm(OPERATE),
    }


def facts_of(event: WebhookEvent) -> EventFacts:
    return EventFacts(
        status=EventStatus(event.status),
        attempt_count=event.attempt_count,
        error_code=event.last_error_code,
        response_status=event.last_response_status,
        answer=answer_of(event),
        due_at=event.due_at,
        finished_at=event.finished_at,
        lease_expires_at=event.lease_expires_at,
        worker_id=event.worker_id,
        closed=_closed(event.endpoint),
    )


def _closed(endpoint: WebhookEndpoint) -> str:
    return closed(is_deleted=endpoint.deleted_at is not None, enabled=endpoint.enabled, reason=endpoint.disabled_reason)


def _can_be_redelivered(event: WebhookEvent) -> bool:
    return not _closed(event.endpoint) and event.status != EventStatus.PROCESSING


def _form(event: WebhookEvent) -> Form:
    again = event.status == EventStatus.DELIVERED
    note = "It goes out at once, with its id and body as they were: the receiver can tell that it is the same."
    return Form(
        name=REDELIVER,
        address=reverse("admin:webhook-redeliver"),
        title="Redeliver",
        note=f"{note} It was delivered already." if again else note,
        verb="Redeliver",
        seen="",
        fields=(
            Field(name="event", label="", kind="hidden", value=carried(event)),
            Field(name="from", label="", kind="hidden", value="event"),
            REASON,
        ),
    )
