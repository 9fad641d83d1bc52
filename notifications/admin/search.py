"""Search that only ever asks an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import Q, QuerySet

from notifications.models import Client, Notification

FOUND_MOST = 500


def as_uuid(term: str) -> UUID | None:
    """The id that `term` spells, or None."""
    try:
        return UUID(term)
    except ValueError:
        return None


def find_notifications(rows: QuerySet[Notification], term: str) -> QuerySet[Notification]:
    """Those with this id, or exactly this recipient, reference, user or idempotency key; the newest 500 of each.

    Each is a query of its own: joined by OR, the planner may walk the whole table in the order of the list instead.
    """
    found = as_uuid(term)
    if found:
        return rows.filter(pk=found)
    # All these indexes begin with the client, of whom there are few: naming them all makes each usable.
    clients = list(Client.objects.values_list("pk", flat=True))
    ids = {pk for condition in _conditions(term) for pk in _newest(condition, clients)}
    return rows.filter(pk__in=ids)


def find_same_recipient(rows: QuerySet[Notification], notification_id: str | None) -> QuerySet[Notification]:
    """The newest 500 that went to the recipient of that notification over the same channel."""
    found = as_uuid(notification_id or "")
    like = Notification.objects.filter(pk=found).values_list("recipient", "channel").first() if found else None
    if like is None:
        return rows.none()
    recipient, channel = like
    clients = list(Client.objects.values_list("pk", flat=True))
    return rows.filter(pk__in=list(_newest(Q(recipient=recipient, channel=channel), clients)))


def _conditions(term: str) -> Iterator[Q]:
    yield Q(recipient__in={term, term.lower()})
    yield Q(reference=term) & ~Q(reference="")
    yield Q(user_id=term) & ~Q(user_id="")
    yield Q(idempotency_key=term)


def _newest(condition: Q, clients: Sequence[UUID]) -> QuerySet[Notification, UUID]:
    matches = Notification.objects.filter(condition, client__in=clients)
    return matches.order_by("-pk").values_list("pk", flat=True)[:FOUND_MOST]
