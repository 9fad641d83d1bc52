"""Pages by cursor over ids that grow with time: steady while rows come and go, the last as quick as the first."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.encoding import escape_uri_path

from notifyq.rest.problem import Problem, field_error, invalid

Row = TypeVar("Row", bound=Model)

LIMIT_DEFAULT = 50
LIMIT_MAX = 200


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list that runs from the newest to the oldest: the row beside it, and which way to read on."""

    beside: UUID
    older: bool

    def encode(self) -> str:
        return base64.urlsafe_b64encode((b"o" if self.older else b"n") + self.beside.bytes).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """Raises `Problem` (400) for anything that `encode` did not make."""
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            raw = b""
        if len(raw) != 17 or raw[:1] not in (b"o", b"n"):
            raise invalid([field_error("cursor", "invalid", "must be taken from `next` or `previous` of an answer")])
        return cls(UUID(bytes=raw[1:]), older=raw[:1] == b"o")


def read_limit(text: str | None) -> int:
    """Raises `Problem` (400) unless it is a whole number from 1 to 200."""
    if text is None:
        return LIMIT_DEFAULT
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= LIMIT_MAX):
        raise invalid([field_error("limit", "invalid", f"must be a whole number from 1 to {LIMIT_MAX}")])
    return int(text)


def read_place(values: Mapping[str, list[str]]) -> tuple[int, Cursor | None]:
    """How long a page is asked for, and from where on, by the query's values.

    Raises:
        Problem: 400, naming what is wrong of `limit` and `cursor`.
    """
    limit, cursor, errors = LIMIT_DEFAULT, None, []
    try:
        limit = read_limit(*values.get("limit", [None]))
    except Problem as problem:
        errors += problem.errors
    try:
        cursor = Cursor.decode(values["cursor"][0]) if "cursor" in values else None
    except Problem as problem:
        errors += problem.errors
    if errors:
        raise invalid(errors)
    return limit, cursor


def paginate(
    request: HttpRequest,
    rows: QuerySet[Row],
    *,
    limit: int,
    cursor: Cursor | None,
    present: Callable[[Row], dict[str, Any]],
) -> dict[str, Any]:
    """One page, newest first.

    Args:
        rows: what is to be listed, in any order; its primary key is a UUID that grows with time.

    Returns:
        `{results, next, previous}`; the latter are absolute URLs, or None at an end.
    """
    older = cursor is None or cursor.older
    if cursor is not None:
        rows = rows.filter(pk__lt=cursor.beside) if older else rows.filter(pk__gt=cursor.beside)
    found = list(rows.order_by("-pk" if older else "pk")[: limit + 1])
    more, page = len(found) > limit, found[:limit]
    if not older:
        page.reverse()
    # The row that the cursor names stands beyond the end that was come from.
    more_older, more_newer = (more, cursor is not None) if older else (True, more)
    return {
        "results": [present(row) for row in page],
        "next": _url(request, Cursor(page[-1].pk, older=True)) if page and more_older else None,
        "previous": _url(request, Cursor(page[0].pk, older=False)) if page and more_newer else None,
    }


def _url(request: HttpRequest, cursor: Cursor) -> str:
    query = request.GET.copy()
    query["cursor"] = cursor.encode()
    # Escaped once more: a part of the path may hold what would end it.
    return request.build_absolute_uri(f"{escape_uri_path(request.path)}?{query.urlencode()}")
