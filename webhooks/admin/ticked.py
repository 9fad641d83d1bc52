"""Having the ticked events delivered again: asked for a reason first, each done by the service that the API calls."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from notifications.admin.bulk import page_of
from notifications.admin.story.deeds import actor_of
from notifications.errors import NotifyError
from notifyq.console import Page, add_page, badge
from webhooks import selectors, services
from webhooks.models import WebhookEvent
from webhooks.queue import Seen
from webhooks.seen import carried, read_carried
from webhooks.status import EventStatus
from webhooks.story import OPERATE, answer_of, host_of, in_words
from webhooks.tones import TONES

log = logging.getLogger(__name__)

TICKED_MOST = 200
"""More than a page has."""
Chosen = tuple[UUID, Seen | None]


def redeliver_ticked(request: HttpRequest) -> HttpResponse:
    """Show what was ticked and ask for a reason; when that is given, do it and go back to the list.

    Once they were shown, each is only done if it still stands as it did: a form that is sent twice acts once.
    """
    back = _list_address(request.POST.get("back", ""))
    read = [read_carried(text) for text in request.POST.getlist("event")[:TICKED_MOST]]
    chosen = [(event_id, seen) for event_id, seen in read if event_id is not None]
    if not chosen:
        messages.warning(request, "Nothing was done: tick at least one event.")
        return redirect(back)
    reason = request.POST.get("reason", "").strip()
    if "confirmed" not in request.POST or not reason or any(seen is None for _, seen in chosen):
        return _ask(request, [event_id for event_id, _ in chosen], back)
    problems = [problem for each in chosen if (problem := _attempted(request, each, reason))]
    _tell(request, len(chosen), problems)
    return redirect(back)


def _ask(request: HttpRequest, ids: Sequence[UUID], back: str) -> HttpResponse:
    events = selectors.events_by_id(ids)
    doable = [event for event in events if event.endpoint.enabled and event.status != EventStatus.PROCESSING]
    return page_of(
        request,
        "console/redeliver_ticked.html",
        f"Redeliver: {len(doable)} webhook event{'' if len(doable) == 1 else 's'}",
        rows=[_row(event) for event in doable],
        closed_count=sum(not event.endpoint.enabled for event in events),
        busy_count=sum(event.endpoint.enabled and event.status == EventStatus.PROCESSING for event in events),
        delivered_count=sum(event.status == EventStatus.DELIVERED for event in doable),
        back=back,
        back_query=request.POST.get("back", ""),
        errors={"reason": "Please give a reason."} if "confirmed" in request.POST else {},
    )


def _row(event: WebhookEvent) -> dict[str, object]:
    tone = TONES.get(EventStatus(event.status), "quiet")
    return {
        "of": event,
        "carried": carried(event),
        "host": host_of(event.endpoint),
        "answer": answer_of(event),
        "badge": badge(event.status, tone),
    }


def _attempted(request: HttpRequest, chosen: Chosen, reason: str) -> str | None:
    """Why it was not done; None when it was."""
    event_id, seen = chosen
    actor = actor_of(request.user)
    try:
        services.redeliver(event_id, None, seen=seen, actor=actor, reason=reason)
    except NotifyError as refused:
        return in_words(refused)
    log.info("operator_redelivered", extra={"event_id": str(event_id), "actor": actor.name})
    return None


def _tell(request: HttpRequest, count: int, problems: Sequence[str]) -> None:
    done = count - len(problems)
    if done:
        messages.success(request, f"Redeliver: done for {done} of {count}.")
    for problem in dict.fromkeys(problems):
        messages.warning(request, f"{problems.count(problem)} left alone. {problem}")


def _list_address(query: str) -> str:
    """The list as it was. Whatever was sent stays behind the question mark: it leads nowhere else."""
    return f"{reverse('admin:webhooks_webhookevent_changelist')}?{QueryDict(query).urlencode()}".rstrip("?")


add_page(
    Page("webhooks/webhookevent/redeliver-ticked/", "webhook-redeliver-ticked", redeliver_ticked, OPERATE, ("POST",))
)
