"""The front page and the part of it that refreshes itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from notifications.channel import Priority
from notifyq.console import scrubbed
from notifyq.overview.attention import SHOWN_MOST, Concern, undelivered_address
from notifyq.overview.charts import SPANS
from notifyq.overview.figures import read
from notifyq.roles import SEE_PRIVATE

PERMISSION = "notifications.view_notification"
BULK = "notifications.view_bulkact"
"""Without it nothing is said of bulk acts; of other things there is only no link."""


def context(request: HttpRequest) -> dict[str, Any]:
    """What the templates of the page need; empty for those who may not see it."""
    if not request.user.has_perm(PERMISSION):
        return {}
    span = SPANS.get(request.GET.get("span", ""), SPANS["hour"])
    shown = {"span": span, "spans": list(SPANS.values()), "priorities": [p.name for p in Priority]}
    try:
        overview = read(span)
    except DatabaseError:
        return shown | {"overview": None}
    concerns = [_for(concern, request.user.has_perm) for concern in overview.concerns]
    seen = [(concern, request.user.has_perm(concern.needs)) for concern in concerns]
    told = [(concern, may_go) for concern, may_go in seen if may_go or concern.needs != BULK]
    return shown | {
        "overview": overview,
        "marks": span.marks(span.since(overview.now)),
        "concerns": told[:SHOWN_MOST],
        "concerns_left_out": len(told[SHOWN_MOST:]),
        "failed_address": undelivered_address("failed", overview.now),
    }


def _for(concern: Concern, may: Callable[[str], bool]) -> Concern:
    """With the addresses in the words of vendors and people masked for those who may not see them, and asking nobody to
    do what they may not."""
    if concern.acts and not may(concern.acts):
        concern = replace(concern, action="Look")
    if may(SEE_PRIVATE):
        return concern
    told = tuple(scrubbed(part) if isinstance(part, str) else part for part in concern.told)
    return replace(concern, title=scrubbed(concern.title), told=told)


def fresh(request: HttpRequest) -> HttpResponse:
    """Only what changes."""
    return TemplateResponse(request, "console/_overview.html", context(request))
