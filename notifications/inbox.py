"""What users see in their inboxes, and what they have read of it. Entries are made by `notifications.queue.inbox`."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from notifications import selectors
from notifications.errors import NotFound
from notifications.models import Client, InboxEntry

COUNTED_MOST = 10_000
"""How far unread entries are counted, or marked as read by one call."""
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Counted:
    """How many; `more` when there are others beyond them."""

    count: int
    more: bool


def entries(client: Client | None, user_id: str, *, unread: bool = False) -> QuerySet[InboxEntry]:
    """A user's entries with their client, to be ordered and cut by id.

    Args:
        client: whose user it is; None for an operator, who sees those of every client that has a user of this id.
        unread: only those that are not read.

    Indexes: `inbox_user`, `inbox_unread`.
    """
    # Every index begins with the client; of clients there are few.
    clients = selectors.client_ids() if client is None else [client.pk]
    rows = InboxEntry.objects.filter(client_id__in=clients, user_id=user_id).select_related("client")
    return rows.filter(read_at=None) if unread else rows


def count_unread(client: Client | None, user_id: str) -> Counted:
    """How many entries the user has not read, counted up to COUNTED_MOST. Index: `inbox_unread`, alone."""
    found = entries(client, user_id, unread=True).values("pk")[: COUNTED_MOST + 1].count()
    return Counted(min(found, COUNTED_MOST), more=found > COUNTED_MOST)


def mark_read(client: Client, user_id: str, entry_id: UUID) -> InboxEntry:
    """Mark one entry as read, of a user of this client. Safe to repeat: the first time stays.

    Returns:
        The entry as it is now.

    Raises:
        NotFound: the user has no such entry, or it is another client's.
    """
    mine = entries(client, user_id).filter(pk=entry_id)
    mine.filter(read_at=None).update(read_at=Now())
    found = mine.first()
    if found is None:
        raise NotFound("there is no such entry")
    return found


def mark_all_read(client: Client, user_id: str) -> Counted:
    """Mark as read what is unread now, the newest first, up to COUNTED_MOST entries. Safe to repeat.

    Returns:
        How many this call marked, and whether others are left for another call.

    Transaction: one short one per batch. Locks: the entries of a batch, in the order of their ids.
    """
    before = selectors.database_now()  # what comes in the meantime nobody has seen yet
    unread = entries(client, user_id, unread=True).filter(created_at__lte=before).order_by("-pk")
    marked = 0
    while marked < COUNTED_MOST:
        ids = list(unread.values_list("pk", flat=True)[:BATCH])
        marked += _mark(ids)
        if len(ids) < BATCH:
            return Counted(marked, more=False)
    return Counted(marked, more=unread.exists())


def _mark(ids: list[UUID]) -> int:
    with transaction.atomic():
        unread = InboxEntry.objects.filter(id__any=ids, read_at=None).order_by("pk").select_for_update(no_key=True)
        held = list(unread.values_list("pk", flat=True))
        return InboxEntry.objects.filter(id__any=held).update(read_at=Now()) if held else 0
