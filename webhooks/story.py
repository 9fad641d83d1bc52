"""What a notification's page in the console tells of its webhooks, and the redelivery of one of them."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from notifications.admin.story.deeds import Unclear, actor_of, reason_of
from notifications.admin.typed import refuse
from notifications.errors import NotFound, NotifyError
from notifications.story.acts import Field, Form
from notifications.story.moment import Moment, told
from notifications.story.said import Said
from notifications.story.sources import Allowed, Brought, add_source
from notifyq.console import Page, add_page, scrubbed
from webhooks import selectors, services
from webhooks.errors import BeingDelivered, EndpointDisabled, MovedMeanwhile
from webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.queue import Seen
from webhooks.seen import carried, read_carried
from webhooks.status import FINAL, EventStatus
from webhooks.tones import TONES

log = logging.getLogger(__name__)

VIEW = "webhooks.view_webhookevent"
OPERATE = "webhooks.operate_webhookevent"
ATTEMPTS_SHOWN_MOST = 300
REASON = Field(name="reason", label="Reason, for the record", is_required=True)
"""No call of the client's tells it."""
REDELIVER = "redeliver"


def of_notification(notification_id: UUID, allowed: Allowed) -> Brought:
    """Its events, their tries, and a form to have one delivered again."""
    events = list(selectors.of_notification(notification_id)) if allowed(VIEW) else []
    if not events:
        return Brought()
    ids = [event.pk for event in events]
    places = selectors.endpoints_by_id({event.endpoint_id for event in events})
    hosts = {event.pk: host_of(places.get(event.endpoint_id)) for event in events}
    tries = list(selectors.latest_attempts(ids, ATTEMPTS_SHOWN_MOST))
    moments = [
        *(_event(event, hosts[event.pk]) for event in events),
        *(_try(attempt, hosts[attempt.event_id]) for attempt in tries),
        *_redeliveries(ids, hosts),
    ]
    open_to = [e for e in events if e.endpoint_id in places and places[e.endpoint_id].enabled]
    forms = _forms(open_to, hosts) if allowed(OPERATE) else []
    return Brought(moments, forms, any(event.status not in FINAL for event in events))


def _event(event: WebhookEvent, host: str) -> Moment:
    waits: tuple[tuple[str, Said], ...] = ()
    if event.status == EventStatus.PENDING:
        waits = (("next try", (event.due_at,)),)
    if event.finished_at is not None:
        waits = (("ended", (event.finished_at,)),)
    return Moment(
        at=event.created_at,
        title=(f"Webhook event {event.type} for {host}",),
        badge=(event.status, TONES.get(EventStatus(event.status), "quiet")),
        facts=(*told(("tries", str(event.attempt_count)), ("last error", event.last_error_code)), *waits),
        address=reverse("admin:webhooks_webhookevent_change", args=[event.pk]),
    )


def _try(attempt: WebhookAttempt, host: str) -> Moment:
    took: Said = (attempt.finished_at - attempt.started_at,) if attempt.started_at else ("nobody knows",)
    answered = str(attempt.response_status) if attempt.response_status else "no answer"
    return Moment(
        at=attempt.started_at or attempt.finished_at,
        title=(f"Webhook try {attempt.cycle}.{attempt.number} at {host}",),
        badge=(answered, "bad" if attempt.error_code else "good"),
        facts=(*told(("error", attempt.error_code)), ("took", took), *told(("by", attempt.worker_id))),
        excerpt=attempt.response_excerpt,
    )


def _redeliveries(ids: Sequence[UUID], hosts: dict[UUID, str]) -> Iterator[Moment]:
    for act in selectors.redeliveries(ids):
        yield Moment(
            at=act.created_at,
            title=(f"Webhook event for {hosts[act.event_id]} redelivered by {act.actor}",),
            badge=("operator", "busy"),
            facts=told(("reason", act.reason), ("bulk act", act.details.get("bulkAct", ""))),
        )


def host_of(endpoint: WebhookEndpoint | None) -> str:
    """What tells it from others: its description, or host and port. Path and query may hold a secret."""
    if endpoint is None:
        return "an endpoint that is gone"
    host = urlsplit(endpoint.url).netloc.rpartition("@")[2]
    return scrubbed(endpoint.description) or host or "an endpoint that is gone"


def place_of(endpoint: WebhookEndpoint, *, with_path: bool = True) -> str:
    """Where it is. Never with its query or userinfo, which are where people put tokens: `https://a.example/hook?…`.

    Args:
        with_path: for those who may see what is private; a path may be a secret too.
    """
    parts = urlsplit(endpoint.url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    place = f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"
    if not with_path:
        return f"{place}/…" if parts.path.strip("/") or parts.query else place
    return f"{place}{parts.path}{'?…' if parts.query else ''}"


def answer_of(event: WebhookEvent) -> str:
    """What came of its last try: an error code, a status, both, or neither."""
    status = str(event.last_response_status or "")
    error = event.last_error_code
    if error and status and status not in error:
        return f"{error} ({status})"
    return error or status or "-"


def _forms(events: Sequence[WebhookEvent], hosts: dict[UUID, str]) -> list[Form]:
    choices = [
        (carried(e), f"{e.type}, {hosts[e.pk]}: {e.status.lower()}")
        for e in events
        if e.status != EventStatus.PROCESSING
    ]
    if not choices:
        return []
    return [
        Form(
            name=REDELIVER,
            address=reverse("admin:webhook-redeliver"),
            title="Redeliver a webhook event",
            note="It goes out at once, with its id and body as they were: the receiver can tell that it is the same.",
            verb="Redeliver",
            seen=hashlib.sha256(repr(choices).encode()).hexdigest()[:12],
            fields=(Field(name="event", label="Event", kind="select", is_required=True, options=choices), REASON),
        )
    ]


def redeliver(request: HttpRequest) -> HttpResponse:
    """Have one event delivered again, and go back to its notification."""
    found, seen = read_carried(request.POST.get("event", ""))
    try:
        reason = reason_of(request.POST)
        _redeliver(request, found, seen, reason)
        messages.success(request, "The webhook event is delivered again at once.")
    except (Unclear, NotifyError) as refused:
        field = refused.field if isinstance(refused, Unclear) else ""
        refuse(request, _back(request, found), REDELIVER, {field: in_words(refused)})
    return redirect(_back(request, found))


def _redeliver(request: HttpRequest, event_id: UUID | None, seen: Seen | None, reason: str) -> None:
    if event_id is None:
        raise Unclear("Choose an event.")
    if seen is None:
        raise Unclear("Please use the form on the page.")
    actor = actor_of(request.user)
    services.redeliver(event_id, None, seen=seen, actor=actor, reason=reason)
    log.info("operator_redelivered", extra={"event_id": str(event_id), "actor": actor.name})


def in_words(refused: Exception) -> str:
    """What a person is told."""
    match refused:
        case BeingDelivered():
            return "The event is being delivered at this moment."
        case MovedMeanwhile():
            return "The event has moved on since you opened the page: look at it anew."
        case EndpointDisabled():
            return "Its endpoint is disabled, or was deleted."
        case NotFound():
            return "The event is not there any more."
    return str(refused)


def _back(request: HttpRequest, event_id: UUID | None) -> str:
    try:
        event = selectors.event(event_id, None) if event_id else None
    except NotFound:
        event = None
    if event is None:
        return reverse("admin:webhooks_webhookevent_changelist")
    if event.notification_id is None or request.POST.get("from") == "event":
        return reverse("admin:webhooks_webhookevent_change", args=[event.pk])
    return reverse("admin:notifications_notification_change", args=[event.notification_id])


add_source(of_notification)
add_page(
    Page(
        path="webhooks/webhookevent/redeliver/",
        name="webhook-redeliver",
        view=redeliver,
        permission=OPERATE,
        methods=("POST",),
    )
)
