"""The front page and the part of it that refreshes itself."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from notifications.channel import Priority
from notifyq.overview.charts import SPANS
from notifyq.overview.figures import read

PERMISSION = "notifications.view_notification"


def context(request: HttpRequest) -> dict[str, Any]:
    """What the templates of the page need; empty for those who may not see it."""
    if not request.user.has_perm(PERMISSION):
        return {}
    span = SPANS.get(request.GET.get("span", ""), SPANS["hour"])
    shown = {"span": span, "spans": list(SPANS.values()), "priorities": [p.name for p in Priority]}
    try:
        return shown | {"overview": read(span)}
    except DatabaseError:
        return shown | {"overview": None}


def fresh(request: HttpRequest) -> HttpResponse:
    """Only what changes."""
    return TemplateResponse(request, "console/_overview.html", context(request))
