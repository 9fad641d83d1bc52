"""Why things ended undelivered, in groups."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from notifications.admin.dead_letters.filter import KINDS
from notifications.undelivered import GROUPED_MOST, NONE, Group, Kind, summarize
from notifications.undelivered.groups import ORDERS

ALL_GROUPS_MOST = 1_000

EXPLAINED = {
    Kind.DEAD: "Attempts used up, or held because nobody knows whether they were sent.",
    Kind.HELD: "The provider's answer was lost: they may have been sent. Ask the provider, then mark them.",
    Kind.FAILED: "Refused by the provider for good, or found undelivered: a retry helps once the cause is gone.",
    Kind.ALL: "Dead letters and what failed for good.",
}


def show_overview(request: HttpRequest) -> HttpResponse:
    """The groups of one kind, the largest or the latest first."""
    kind = Kind(request.GET["kind"]) if request.GET.get("kind") in set(Kind) else Kind.DEAD
    order = request.GET.get("order") if request.GET.get("order") in ORDERS else "count"
    summary = summarize(kind, order or "count", ALL_GROUPS_MOST if "all" in request.GET else None)
    context = {
        **admin.site.each_context(request),
        "title": "Dead letters",
        "kind": kind,
        "kind_name": KINDS[kind],
        "explained": EXPLAINED[kind],
        "order": order,
        "orders": [("count", "most first"), ("latest", "latest first")],
        "tiles": [_tile(each, summary.counts[each], each in summary.bounded) for each in Kind],
        "groups": [(group, _shown(group, kind), _query(group, kind)) for group in summary.groups],
        "left_out": summary.left_out,
        "is_bounded": kind in summary.bounded,
        "grouped_most": GROUPED_MOST,
        "undelivered_count": summary.counts[Kind.ALL],
    }
    return TemplateResponse(request, "console/dead_letters/overview.html", context)


def _tile(kind: Kind, count: int, is_bounded: bool) -> dict[str, Any]:
    return {"kind": kind, "name": KINDS[kind], "count": count, "is_bounded": is_bounded}


def _shown(group: Group, kind: Kind) -> dict[str, Any]:
    return {
        "provider": group.provider or NONE,
        "error_code": group.error_code or NONE,
        "is_held": group.held_count == group.count,
        "some_held": 0 < group.held_count < group.count,
        "status": group.status if kind is Kind.ALL else "",
    }


def _query(group: Group, kind: Kind) -> str:
    """The list of just these."""
    of_status = Kind.FAILED if group.status in Kind.FAILED.statuses else Kind.DEAD
    asked = {
        "kind": Kind.HELD if kind is Kind.HELD else of_status,
        "channel": group.channel,
        "provider": group.provider or NONE,
        "error_code": group.error_code or NONE,
    }
    return urlencode(asked)
