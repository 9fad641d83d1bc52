"""A look at what was ticked: to which of them an act can be done, and why not to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest

from notifications import selectors
from notifications.admin.rows import Row, link_to, row_of, short_id
from notifications.models import Notification
from notifications.story.acts import Deed, hindrance
from notifyq.console import as_uuid

GONE = "it is not there any more"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A row as the form names it: `id`, or `id:last_act_id` once it was shown to whoever confirms.

    The latter holds the act to what was seen: a form that is sent twice acts once, even when a retry has failed again
    in between.

    Attributes:
        last_act_id: of the last `OperatorAction` on it, 0 for none; None where it was not shown yet.
    """

    id: UUID
    last_act_id: int | None

    @classmethod
    def read(cls, text: str) -> Chosen | None:
        """None for anything else."""
        identity, _, seen = text.partition(":")
        found = as_uuid(identity)
        if found is None or not (seen == "" or (seen.isascii() and seen.isdigit() and len(seen) < 19)):
            return None
        return cls(found, int(seen) if seen else None)


@dataclass(frozen=True, slots=True)
class Shown:
    """One that the act can be done to.

    Attributes:
        row: as the list shows it.
        named: how the form names it.
        is_late: its time to live would be over by the new send time.
    """

    row: Row
    named: str
    is_late: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What is chosen, as it stands.

    Attributes:
        doable: those that the act can be done to.
        left: why the others are left alone, each reason with its rows, as links where they are there.
    """

    doable: Sequence[Shown]
    left: dict[str, list[str]]

    @property
    def late_count(self) -> int:
        return sum(shown.is_late for shown in self.doable)

    @property
    def left_count(self) -> int:
        return sum(map(len, self.left.values()))


def read_chosen(texts: Sequence[str]) -> list[Chosen]:
    """Each once; what cannot be read is left out."""
    found = [chosen for text in texts if (chosen := Chosen.read(text))]
    return list({chosen.id: chosen for chosen in found}.values())


def look_at(request: HttpRequest, deed: Deed, chosen: Sequence[Chosen], send_at: datetime | None = None) -> Look:
    """Three queries, however many are chosen.

    Args:
        send_at: the new time, for a reschedule; None as long as it is not known.
    """
    ids = [each.id for each in chosen]
    last_acts = selectors.last_act_ids(ids)  # before the rows: what is done in between makes the form void
    rows = {row.pk: row for row in selectors.by_ids(ids)}
    now = selectors.database_now()
    doable: list[Shown] = []
    left: dict[str, list[str]] = {}
    for identity in ids:
        row = rows.get(identity)
        why = GONE if row is None else _hindrance(deed, row, now)
        if row is None or why:
            left.setdefault(why, []).append(link_to(identity) if row else short_id(identity))
        else:
            named = f"{identity}:{last_acts.get(identity, 0)}"
            doable.append(Shown(row_of(row, request), named, send_at is not None and _is_over(row, send_at)))
    return Look(doable, left)


def _hindrance(deed: Deed, row: Notification, now: datetime) -> str:
    return hindrance(
        deed,
        row.status,
        unconfirmed_provider=row.unconfirmed_provider,
        error_code=row.last_error_code,
        is_over=_is_over(row, now),
    )


def _is_over(row: Notification, at: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= at
