"""What somebody was shown of a bulk act and may confirm, sealed against change, and its beginning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID, uuid4

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from notifications import services
from notifications.admin.bulk_kinds import kind_by
from notifications.admin.story.deeds import actor_of
from notifications.errors import FieldError, InvalidRequest
from notifications.services import BulkFilter
from notifications.services.bulk import RATE_DEFAULT, RATE_MOST

OLD_SECONDS = 3600
"""A preview is confirmed within an hour: after that it says too little about what is there."""

CHANGED = (
    "Nothing was done: the filter was changed after the look. Below is what it matches now: confirm that, or change it "
    "back."
)


class Count(Protocol):
    """How many match."""

    @property
    def actionable(self) -> int: ...


class Preview(Protocol):
    """What an act would do; the count is None when it took too long."""

    @property
    def selection(self) -> BulkFilter: ...
    @property
    def cutoff(self) -> datetime: ...
    @property
    def count(self) -> Count | None: ...


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What somebody was shown and may confirm. The id goes with the form: a form begins one act, however often it is
    sent.

    Attributes:
        stored: the filter, as `as_json` gave it.
    """

    form_id: UUID
    stored: dict[str, Any]
    cutoff: datetime
    count: int | None

    @classmethod
    def of(cls, preview: Preview, form_id: UUID | None = None) -> Confirmation:
        count = None if preview.count is None else preview.count.actionable
        return cls(form_id or uuid4(), preview.selection.as_json(), preview.cutoff, count)

    def sealed(self, kind: str) -> str:
        """For a hidden field.

        Args:
            kind: keeps the forms of one kind of acts from being sent to another.
        """
        stored = {
            "form": str(self.form_id),
            "selection": self.stored,
            "cutoff": self.cutoff.isoformat(),
            "count": self.count,
        }
        return signing.dumps(stored, salt=kind, compress=True)


def opened(sealed: str, kind: str) -> Confirmation | None:
    """What `sealed` made; None when it is not that, or an hour old."""
    try:
        stored = signing.loads(sealed, salt=kind, max_age=OLD_SECONDS)
    except signing.BadSignature:
        return None
    cutoff = datetime.fromisoformat(stored["cutoff"])
    return Confirmation(UUID(stored["form"]), stored["selection"], cutoff, stored["count"])


def begin_confirmed(
    request: HttpRequest,
    confirmed: Confirmation,
    selection: BulkFilter,
    ask_again: Callable[[tuple[FieldError, ...]], HttpResponse],
) -> HttpResponse:
    """Begin what was confirmed, once for each form, and lead to its page.

    Args:
        ask_again: shows the form with what is wrong.
    """
    try:
        act, begun = services.begin_bulk(
            actor_of(request.user),
            selection,
            form_id=confirmed.form_id,
            cutoff=confirmed.cutoff,
            previewed_count=confirmed.count,
            rate_per_second=_rate(request.POST),
            reason=request.POST.get("reason", "").strip(),
        )
    except InvalidRequest as problem:
        return ask_again(problem.errors)
    if not begun:
        messages.info(request, "This act has been begun already: here it is.")
    return redirect("admin:bulk-act", act.pk)


def too_old(request: HttpRequest, preview_name: str) -> HttpResponse:
    """Back to the preview, with nothing done."""
    messages.error(request, "That preview is over an hour old, or not ours. Please look again: nothing was done.")
    return redirect(preview_name)


def tell_changed(request: HttpRequest) -> None:
    """The form that confirms carries the filter's fields too: they are not those that were looked at."""
    messages.warning(request, CHANGED)


def form_context(request: HttpRequest, preview: Preview, confirmation: Confirmation, kind: str) -> dict[str, Any]:
    """What the form that confirms needs."""
    action, known = preview.selection.action, kind_by(preview.selection.action)
    return {
        "preview": preview,
        "words": known.words[action],
        "button": known.on_count(action, None if preview.count is None else preview.count.actionable),
        "confirmation": confirmation.sealed(kind),
        "rate": request.POST.get("rate", RATE_DEFAULT),
        "rate_most": RATE_MOST,
        "reason": request.POST.get("reason", ""),
    }


def _rate(given: Mapping[str, str]) -> int | str | None:
    rate = given.get("rate", "").strip()
    return int(rate) if rate.isdecimal() and rate.isascii() and len(rate) < 10 else rate or None
