"""The undelivered one by one."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from notifications.admin.dead_letters.filter import KINDS, LABELLED_MOST, Filter, bulk_query, read_filter
from notifications.admin.rows import Row, row_of
from notifications.admin.ticked import WORDINGS, Origin, offer
from notifications.story.acts import Deed
from notifications.undelivered import WALKED_MOST, Page, Place, page_of
from notifyq.roles import SEE_PRIVATE

ORIGIN = Origin(
    label="Dead letters, one by one",
    list_name="admin:dead-letters-list",
    act_name="dead-letters-act",
    path="dead-letters/act/",
    deeds=(Deed.RETRY, Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED),
)


def show_list(request: HttpRequest) -> HttpResponse:
    """One page of those that match, the latest first."""
    asked = read_filter(request.GET.dict(), sees_private=request.user.has_perm(SEE_PRIVATE))
    place = Place.decode(request.GET.get("place", ""))
    page = page_of(asked.wanted, place) if asked.wanted else Page((), None, None)
    rows = [row_of(row, request) for row in page.rows]
    context = {
        **admin.site.each_context(request),
        "title": KINDS[asked.kind].capitalize(),
        "filter": asked,
        "form": asked.form,
        "kinds": [(kind, name, asked.query(kind=kind)) for kind, name in KINDS.items()],
        "rows": rows,
        "page": page,
        "older": _address(asked, page.older) if page.older else "",
        "newer": _address(asked, page.newer) if page.newer else "",
        "first": _address(asked, None) if place else "",
        "ticked": offer(request, ORIGIN, query=asked.query(), bulk=_bulk(asked, _deeds(rows)), deeds=_deeds(rows)),
        "walked_most": WALKED_MOST,
        "labelled_most": LABELLED_MOST,
    }
    return TemplateResponse(request, "console/dead_letters/list.html", context)


def _deeds(rows: Sequence[Row]) -> Sequence[Deed]:
    """Those that can be done to one of them at least."""
    return ORIGIN.deeds if any(row.is_held for row in rows) else (Deed.RETRY,)


def _address(asked: Filter, place: Place | None) -> str:
    return f"?{asked.query(place=place.encode() if place else '')}"


def _bulk(asked: Filter, deeds: Sequence[Deed]) -> list[tuple[str, str]]:
    """Where these can be done to everything that matches, left out where that page could not mean the same."""
    queries = [(WORDINGS[deed].on_all, bulk_query(asked, deed)) for deed in deeds]
    return [(label, f"{reverse('admin:bulk-preview')}?{query}") for label, query in queries if query]
