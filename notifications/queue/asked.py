"""What a provider said of a send in doubt, written beside what follows from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from notifications.models import Attempt, LookUp
from notifications.verdict import Found, Outcome
from notifyq.leasing import Arrays, Follower


@dataclass(frozen=True, slots=True)
class LookUpRecord:
    """One question to a provider, as it goes into the history."""

    cycle: int
    provider: str
    found: Found
    error_code: str = ""
    error_message: str = ""


class Asked(Protocol):
    """The end of a lease under which a provider may have been asked."""

    @property
    def id(self) -> UUID: ...
    @property
    def token(self) -> UUID: ...
    @property
    def asked(self) -> LookUpRecord | None: ...


ASKED = {
    "reconciled_at": "now()",
    # While it was asked about, this was the end of the asker's lease.
    "due_at": "now() + COALESCE(v.wait_seconds, 0) * interval '1 second'",
    "updated_at": "now()",
}
"""What every such ending writes into the notification."""

_LOOK_UP = {
    "id": "uuid",
    "token": "uuid",
    "cycle": "int2",
    "provider": "text",
    "found": "text",
    "error_code": "text",
    "error_message": "text",
}
_LOOK_UP_INTO = {
    "notification_id": "f.id",
    "cycle": "f.cycle",
    "provider": "f.provider",
    "found": "f.found",
    "error_code": "f.error_code",
    "error_message": "f.error_message",
    "asked_count": "1",
    "first_asked_at": "now()",
    "last_asked_at": "now()",
}
# A provider may be asked for a month: what it says again and again is one row.
_SAID_AGAIN = (
    "(notification_id, cycle, provider, found, error_code) DO UPDATE SET last_asked_at = EXCLUDED.last_asked_at, "
    f"error_message = EXCLUDED.error_message, asked_count = {LookUp._meta.db_table}.asked_count + 1"
)


def asked_of(endings: Sequence[Asked]) -> Follower | None:
    """The history of those endings, to be written with them; None when nobody was asked."""
    rows = [
        (e.id, e.token, e.asked.cycle, e.asked.provider, e.asked.found, e.asked.error_code, e.asked.error_message)
        for e in endings
        if e.asked is not None
    ]
    return Follower(LookUp._meta.db_table, _LOOK_UP_INTO, Arrays(_LOOK_UP, rows), _SAID_AGAIN) if rows else None


def plain_record(record: LookUpRecord | None) -> LookUpRecord | None:
    """Without what a vendor may have written into it."""
    if record is None or not record.error_code:
        return record
    return dataclasses.replace(record, error_code="unreadable", error_message="")


def sends_in_doubt(endings: Sequence[Asked]) -> list[tuple[UUID, UUID]]:
    """(id, claim token) of all sends of these that were in doubt with the provider that was asked.

    It never had one of them, so what they took of a rate limit can be given back. Index: that of the history's foreign
    key.
    """
    providers = {e.id: e.asked.provider for e in endings if e.asked is not None}
    if not providers:
        return []
    unsure = Attempt.objects.filter(
        notification__in=list(providers), outcome__in=[Outcome.UNCONFIRMED, Outcome.LOST]
    ).values_list("notification", "claim_token", "provider")
    return [(identity, token) for identity, token, provider in unsure if provider == providers[identity]]
