"""The undelivered one by one, the latest first, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from notifications import selectors
from notifications.models import Notification
from notifications.status import Status
from notifications.undelivered.place import Place
from notifications.undelivered.wanted import UNDELIVERED, Wanted

SHOWN = 50
WALKED_MOST = 50_000
"""How many of a status are looked through for one page."""

Key = tuple[datetime, UUID]

# Index notification_undelivered alone, in its order; what it is narrowed to stands in the entries of the index. The
# inner LIMIT bounds the walk where few or none of them match. The status stands in the text, so that the index is
# found.
_WALK = """
SELECT finished_at, id FROM (
       SELECT finished_at, id, channel, client_id, last_used_provider, last_error_code, unconfirmed_provider
         FROM notifications_notification WHERE {range} ORDER BY finished_at {way}, id {way} LIMIT %(walked)s) AS walked
 WHERE {narrowing}
 ORDER BY finished_at {way}, id {way} LIMIT %(limit)s
"""
# The same index alone: where the walk above stopped.
_END = """
SELECT finished_at, id FROM notifications_notification WHERE {range}
 ORDER BY finished_at {way}, id {way} OFFSET %(walked)s - 1 LIMIT 1
"""
# The primary key, as often as there are ids.
_AMONG = """
SELECT finished_at, id FROM notifications_notification
 WHERE id = ANY(%(ids)s::uuid[]) AND {range} AND {narrowing}
 ORDER BY finished_at {way}, id {way} LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the list.

    Attributes:
        rows: the latest first.
        older, newer: where to read on; None at an end.
        is_cut: WALKED_MOST were looked through before the page was full; the others stand behind `older` or `newer`.
    """

    rows: Sequence[Notification]
    older: Place | None
    newer: Place | None
    is_cut: bool = False


def page_of(wanted: Wanted, place: Place | None = None) -> Page:
    """Those that match beside a place, or the latest. Neither gaps nor repeats while others come and go: the row at
    the place itself need not exist any more."""
    older = place is None or place.older
    keys, stop = _keys(wanted, place, older)
    more, keys = len(keys) > SHOWN, keys[:SHOWN]
    ahead = Place(*keys[-1], older=older) if more else Place(*stop, older=older) if stop else None
    beside = keys[0] if keys else (place.finished_at, place.id) if place else None
    back = Place(*beside, older=not older) if place and beside else None
    found = selectors.by_ids([identity for _, identity in (keys if older else reversed(keys))])
    rows = [row for row in found if row.status in UNDELIVERED]  # some may have left the list in the meantime
    return Page(rows, *((ahead, back) if older else (back, ahead)), is_cut=stop is not None and not more)


def _keys(wanted: Wanted, place: Place | None, older: bool) -> tuple[list[Key], Key | None]:
    """One more than are shown, as far as there are so many; and where the walk stopped before that."""
    walks = [_walk(status, wanted, place, older) for status in wanted.kind.statuses]
    stops = [stop for _, stop in walks if stop is not None]
    keys = sorted((key for found, _ in walks for key in found), reverse=older)
    if not stops:
        return keys[: SHOWN + 1], None
    # Behind the first stop, others of that status might stand between those that were found of the other one.
    stop = max(stops) if older else min(stops)
    return [key for key in keys if (key >= stop if older else key <= stop)][: SHOWN + 1], stop


def _walk(status: Status, wanted: Wanted, place: Place | None, older: bool) -> tuple[list[Key], Key | None]:
    window, values = wanted.window()
    narrowing, more_values = wanted.narrowing()
    beside = [f"(finished_at, id) {'<' if older else '>'} (%(finished_at)s, %(id)s)"] if place else []
    parts = {
        "range": " AND ".join((f"status = '{status}'", *window, *beside)),
        "narrowing": " AND ".join(narrowing) or "true",
        "way": "DESC" if older else "ASC",
    }
    values |= more_values | {"limit": SHOWN + 1, "walked": WALKED_MOST}
    values |= {"finished_at": place.finished_at, "id": place.id} if place else {}
    if wanted.ids is not None:
        return _rows(_AMONG.format(**parts), values | {"ids": list(wanted.ids)}), None
    found = _rows(_WALK.format(**parts), values)
    if len(found) > SHOWN or not narrowing:
        return found, None
    return found, next(iter(_rows(_END.format(**parts), values)), None)


def _rows(statement: str, values: dict[str, Any]) -> list[Key]:
    used = {name: value for name, value in values.items() if f"%({name})s" in statement}
    with connection.cursor() as cursor:
        cursor.execute(statement, used)
        return [(at, identity) for at, identity in cursor.fetchall()]
