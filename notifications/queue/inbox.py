"""Entries in inboxes: made in the transaction in which their notification becomes SENT.

Locks, always in this order: the notifications (by whoever ends them), then the collapse keys at hand. Entries are never
waited for: one that somebody is marking as read is as good as read, and stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import connection

from notifications.models import InboxEntry
from notifyq.leasing import Arrays
from notifyq.leasing.arrays import literal

CollapseKey = tuple[UUID, str, str]
"""(client, user, collapse key)."""

# A version 7 UUID (RFC 9562, section 5.7) by the database's clock. In the place of its first random bits stands a
# counter (section 6.2, method 1), so that what is made in one millisecond keeps the order of its notifications.
_UUID7 = """
encode(overlay(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6)
    PLACING substring(int4send(28672 + (n.place & 4095)::int) FROM 3) FROM 7 FOR 2), 'hex')::uuid
"""

# One statement for all of a batch. Indexes: the primary keys of notification and content. A notification that has its
# entry gets no second one.
# Parameters: ids, an array. Locks: key share on the notifications, by the foreign key; the caller holds them anyway.
_WRITE = f"""
INSERT INTO notifications_inboxentry
       (id, notification_id, client_id, user_id, subject, body, data, collapse_key, send_at, expires_at,
        created_at)
SELECT {_UUID7}, n.id, n.client_id, n.recipient, c.subject, c.body, c.data, c.collapse_key, n.send_at, n.expires_at,
       now()
  FROM (SELECT id, client_id, recipient, send_at, expires_at, row_number() OVER (ORDER BY id) AS place
          FROM notifications_notification WHERE id = ANY (%s::uuid[])) AS n
  JOIN notifications_content AS c ON c.notification_id = n.id
 ORDER BY n.place
    ON CONFLICT (notification_id) DO NOTHING
RETURNING client_id, user_id, collapse_key
"""  # noqa: S608 (a constant)

# Unread entries that a newer one with their key stands beside, read or not; newer by the time for which it was asked,
# since two workers may deliver in the other order. Index: `inbox_collapse`, twice for each key.
_OUTDATED = """
SELECT e.id FROM {keys}
  JOIN notifications_inboxentry AS e
    ON e.client_id = k.client_id AND e.user_id = k.user_id AND e.collapse_key = k.collapse_key
 WHERE e.collapse_key <> '' AND e.read_at IS NULL
   AND EXISTS (SELECT FROM notifications_inboxentry AS newer
                WHERE newer.client_id = e.client_id AND newer.user_id = e.user_id
                  AND newer.collapse_key = e.collapse_key AND newer.collapse_key <> ''
                  AND (newer.send_at, newer.notification_id) > (e.send_at, e.notification_id))
   FOR UPDATE OF e SKIP LOCKED
"""
_KEY_COLUMNS = {"client_id": "uuid", "user_id": "text", "collapse_key": "text"}


def write_entries(notification_ids: Sequence[UUID]) -> None:
    """Make the entries of notifications that the present transaction has moved to SENT, and take away what they
    replace. A repeat makes none.

    Transaction: the caller's, which holds the notifications.
    """
    if not notification_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, [literal(notification_ids)])
        keys = {(row[0], row[1], row[2]) for row in cursor.fetchall() if row[2]}
    if keys:
        _collapse(keys)


def _collapse(keys: set[CollapseKey]) -> None:
    """Of two transactions that add to one key, neither sees the other's entry: so one waits for the other."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_advisory_xact_lock(key)) FROM unnest(%s::bigint[]) AS key",
            [literal(sorted(map(_lock_key, keys)))],
        )
        arrays = Arrays(_KEY_COLUMNS, sorted(keys))
        cursor.execute(_OUTDATED.format(keys=arrays.source("k")), arrays.parameters())
        outdated: Iterable[UUID] = [row[0] for row in cursor.fetchall()]
    if outdated:
        InboxEntry.objects.filter(id__any=outdated).delete()


def _lock_key(key: CollapseKey) -> int:
    """A signed 64-bit number for PostgreSQL's advisory locks."""
    name = "\0".join(("inbox", str(key[0]), key[1], key[2])).encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8], signed=True)
