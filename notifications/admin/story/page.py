"""The page itself, in place of Django's form."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode

from notifications import selectors, sms_segments, waiting
from notifications.admin.story import deeds, html_body  # noqa: F401 (they bring their pages)
from notifications.admin.story.forms import forms_for
from notifications.admin.story.moments import moments
from notifications.admin.story.private import scrubbed_moment, scrubbed_words
from notifications.admin.story.reading import read_facts, read_history
from notifications.admin.tones import DELIVERY_TONES, STATUS_TONES
from notifications.admin.typed import put_back
from notifications.channel import Channel, Priority
from notifications.models import Content, Notification
from notifications.outages import NO_OUTAGES
from notifications.outcome import UNCONFIRMED
from notifications.receipts import DeliveryStatus
from notifications.receipts.status import proves_acceptance
from notifications.status import FINAL, Status
from notifications.story.acts import Form
from notifications.story.moment import in_order
from notifications.story.sources import brought
from notifications.story.why import until_when, why
from notifyq.console import OwnPage, masked
from notifyq.roles import OPERATE, SEE_PRIVATE

PART = "X-Console-Part"
"""Sent by console.js when it refreshes a part of a page."""


class TellsStory(OwnPage):
    """For the admin of notifications."""

    def show(self, request: HttpRequest, row: Notification) -> HttpResponse:
        context = story(request, row)
        if PART in request.headers:
            return TemplateResponse(request, "console/_story.html", context)
        page = {**self.headed(request, f"Notification {row.pk}"), **context}
        return TemplateResponse(request, "console/story.html", page)


def story(request: HttpRequest, row: Notification) -> dict[str, Any]:
    """All that the templates need."""
    now = selectors.database_now()
    history = read_history(row)
    outages = waiting.outages() if row.status == Status.PENDING else NO_OUTAGES
    selectors.set_expected([row])
    facts = read_facts(row, history, now, outages)
    others = brought(row.pk, request.user.has_perm)
    own = moments(row, history, facts, now)
    forms: list[Form] = []
    if request.user.has_perm(OPERATE):
        forms += forms_for(row, history.actions[-1].pk if history.actions else 0, now)
    forms += [form for other in others for form in other.forms]
    if PART not in request.headers:
        forms = put_back(request, forms)
    sees_private = request.user.has_perm(SEE_PRIVATE)
    said = in_order([*own, *(moment for other in others for moment in other.moments)])
    return {
        "row": row,
        "due_at": outages.due_at(row),
        "facts": facts,
        "tone": STATUS_TONES.get(facts.status, "quiet"),
        "priority": Priority(row.priority).name,
        "why": why(facts, now) if sees_private else scrubbed_words(why(facts, now), row),
        "until_when": until_when(facts, now) if facts.status is Status.RECONCILING else (),
        "now": now,
        "moments": said if sees_private else [scrubbed_moment(moment, row) for moment in said],
        "is_cut": history.is_cut,
        "is_live": facts.status not in FINAL or any(other.is_unfinished for other in others),
        "forms": forms,
        **_offered(request, forms),
        "sees_private": sees_private,
        "recipient": row.recipient if sees_private else masked(row.recipient),
        "content": _content(row) if sees_private else None,
        "neighbours": _neighbours(row),
        "reported": row.delivery_status,
        "reported_tone": DELIVERY_TONES[DeliveryStatus(row.delivery_status)] if row.delivery_status else "",
        "advice": _advice(row),
    }


def _offered(request: HttpRequest, forms: list[Form]) -> dict[str, Any]:
    """Which forms the page has, so that the part that refreshes itself can tell when that is no longer true."""
    offered = ",".join(f"{form.name}.{form.seen}" for form in forms)
    return {"offered": offered, "is_outdated": PART in request.headers and request.GET.get("offered") != offered}


def _advice(row: Notification) -> str:
    """A word to the operator where a report speaks against sending it again."""
    told = row.delivery_status
    if not told or row.status != Status.DEAD_LETTERED or not proves_acceptance(told):
        return ""
    held = row.unconfirmed_provider or row.last_error_code == UNCONFIRMED
    return "Mark as sent may be right, not Retry" if held else "Retry may send a second copy"


def segments_of(text: str) -> str:
    """What a text message takes, and is charged by."""
    segments = sms_segments.count(text)
    return f"{segments.count} ({segments.encoding}, {segments.per_segment} characters each)"


def _content(row: Notification) -> dict[str, Any]:
    content = Content.objects.filter(pk=row.pk).first()
    if content is None:
        return {}
    return {
        "row": content,
        "frame": reverse("admin:notification-html", args=[row.pk]) if content.html_body else "",
        "labels": [
            (label, value)
            for label, value in (
                ("Subject", content.subject),
                ("From", content.from_name),
                ("Reply to", content.reply_to),
                ("Collapse key", content.collapse_key),
                ("Segments", segments_of(content.body) if row.channel == Channel.SMS else ""),
            )
            if value
        ],
        "objects": [
            (label, json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))
            for label, value in (("Data", content.data), ("Metadata", content.metadata))
            if value
        ],
    }


def _neighbours(row: Notification) -> list[tuple[str, str]]:
    """Lists of what belongs together. No address holds a recipient or a reference: addresses end up in logs."""
    place = reverse("admin:notifications_notification_changelist")
    wanted = [("Same recipient", {"recipient_of": str(row.pk)})]
    if row.group_id:
        wanted.append(("Same group", {"group_id": str(row.group_id)}))
    if row.reference:
        wanted.append(("Same reference", {"reference_of": str(row.pk)}))
    return [(label, f"{place}?{urlencode(query)}") for label, query in wanted]
