"""Search that only ever asks an index, and not for more than a page or two can show."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from notifications import selectors
from notifications.models import Notification
from notifications.request.fields import Invalid
from notifications.request.recipients import canonical_filter
from notifyq.console import as_uuid

FOUND_MOST = 500

# Each of these indexes begins with the client, of whom there are few, and ends with the id: one look for each client
# reads as many entries as are asked for, and no other. The primary key is never walked instead.
_LABELLED = """
SELECT found.id FROM unnest(%(clients)s::uuid[]) AS client(id)
 CROSS JOIN LATERAL (
       SELECT id FROM notifications_notification WHERE client_id = client.id AND {label}
        ORDER BY id DESC LIMIT %(most)s) AS found
 ORDER BY found.id DESC LIMIT %(most)s
"""
_LABELS = {
    "recipient": "recipient = %(text)s",
    "reference": "reference = %(text)s AND reference <> ''",
    "user_id": "user_id = %(text)s AND user_id <> ''",
    "idempotency_key": "idempotency_key = %(text)s",
}
# Index notification_message_id; an id is one message, but for providers that begin anew.
_MESSAGE = """
SELECT id FROM notifications_notification
 WHERE provider_message_id = %(text)s AND provider_message_id <> '' LIMIT %(most)s
"""


def find_notifications(rows: QuerySet[Notification], term: str) -> QuerySet[Notification]:
    """Those of the rows that `find_ids` finds."""
    return rows.filter(pk__in=find_ids(term))


def find_ids(term: str) -> set[UUID]:
    """The notification with this id, or those with exactly this recipient, reference, user, idempotency key or
    provider's message id; the newest 500 of each."""
    found = as_uuid(term)
    ids = {found} if found else set()
    clients = selectors.client_ids()
    for text in {term, term.lower(), *_canonical(term)}:
        ids.update(labelled("recipient", text, clients))
    for label in ("reference", "user_id", "idempotency_key"):
        ids.update(labelled(label, term, clients))
    return ids.union(_ids(_MESSAGE, text=term, most=FOUND_MOST))


def _canonical(term: str) -> list[str]:
    """As the API would store it, if it is an address: `+41 79 121 0038` is `+41791210038`."""
    try:
        return [canonical_filter(term)]
    except Invalid:
        return []


def find_same_recipient(rows: QuerySet[Notification], notification_id: str | None) -> QuerySet[Notification]:
    """Of the newest 500 that went to the recipient of that notification, those over the same channel."""
    found = as_uuid(notification_id or "")
    like = Notification.objects.filter(pk=found).values_list("recipient", "channel").first() if found else None
    if like is None:
        return rows.none()
    recipient, channel = like
    return rows.filter(pk__in=labelled("recipient", recipient, selectors.client_ids()), channel=channel)


def find_same_reference(rows: QuerySet[Notification], notification_id: str | None) -> QuerySet[Notification]:
    """Of the newest 500 with the reference of that notification, its client's; none when it has no reference."""
    found = as_uuid(notification_id or "")
    like = Notification.objects.filter(pk=found).values_list("reference", "client_id").first() if found else None
    return rows.filter(pk__in=labelled("reference", like[0], [like[1]])) if like and like[0] else rows.none()


def labelled(label: str, text: str, clients: Collection[UUID], *, most: int | None = None) -> list[UUID]:
    """The newest with exactly this label.

    Args:
        label: a key of `_LABELS`.
        most: how many at most; None means FOUND_MOST.
    """
    statement = _LABELLED.format(label=_LABELS[label])
    return _ids(statement, clients=list(clients), text=text, most=most or FOUND_MOST)


def _ids(statement: str, **values: Any) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [identity for (identity,) in cursor.fetchall()]
