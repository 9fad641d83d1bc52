"""The least that must be done to take rows and finish them, by hand on one connection: the limit to be compared with.

It keeps the queue's rules (order, locks, token, guarded ending, history) and leaves out all else: nothing
is delivered, there is no thread and no ORM, and content is read only on request.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection

CLAIM = """
SELECT id FROM notifications_notification
 WHERE status = 'PENDING' AND NOT suspect AND parked_by IS NULL AND rank = 1 AND due_at <= now()
 ORDER BY due_at, id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
"""
PAYLOAD = """
SELECT n.client_id, n.channel, n.recipient, n.attempt_count, n.max_attempts, n.on_unconfirmed, c.subject, c.body,
       c.html_body, c.from_name, c.reply_to, c.collapse_key, c.data
  FROM notifications_notification n JOIN notifications_content c ON c.notification_id = n.id WHERE n.id = ANY(%s)
"""
TAKE = """
UPDATE notifications_notification
   SET status = 'PROCESSING', claim_token = %s, worker_id = 'bare', attempt_count = attempt_count + 1,
       lease_expires_at = now() + interval '300 seconds', updated_at = now()
 WHERE id = ANY(%s)
"""
# The state comes from an array too: as a literal it has the plan cost the square of the batch (see `end_leases`).
SETTLE = """
WITH ended AS (
    UPDATE notifications_notification n
       SET status = 'SENT', claim_token = NULL, worker_id = '', lease_expires_at = NULL, finished_at = now(),
           updated_at = now(), provider = 'bare', last_used_provider = 'bare', provider_message_id = v.id::text
      FROM unnest(%s::uuid[], %s::uuid[], %s::text[]) AS v (id, token, held_status)
     WHERE n.id = v.id AND n.claim_token = v.token AND n.status = v.held_status RETURNING n.id, v.token)
INSERT INTO notifications_attempt (notification_id, claim_token, cycle, number, hop, provider, outcome, error_code,
                                   error_message, provider_message_id, started_at, finished_at, worker_id)
SELECT id, token, 1, 1, 1, 'bare', 'ACCEPTED', '', '', id::text, now(), now(), 'bare' FROM ended
"""


@contextmanager
def connected() -> Iterator[psycopg.Connection[Any]]:
    """A plain connection to the database that Django uses."""
    ours = {"cursor_factory", "context"}
    parameters = {k: v for k, v in connection.get_connection_params().items() if k not in ours}
    with psycopg.connect(**parameters) as raw:
        yield raw


def claim(raw: psycopg.Connection[Any], limit: int, *, payload: bool = False) -> tuple[list[UUID], UUID]:
    """One claim and its commit: the ids and the token. With `payload` it reads what a delivery needs, too."""
    token = uuid4()
    ids = [row[0] for row in raw.execute(CLAIM, [limit]).fetchall()]
    if ids:
        raw.execute(TAKE, [token, ids])
    if ids and payload:
        raw.execute(PAYLOAD, [ids]).fetchall()
    raw.commit()
    return ids, token


def drain(raw: psycopg.Connection[Any], batch_size: int, seconds: float) -> tuple[int, float]:
    """Claim and settle until nothing is due or the time is up: how many, and in how many seconds."""
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < seconds:
        ids, token = claim(raw, batch_size)
        if not ids:
            break
        raw.execute(SETTLE, [ids, [token] * len(ids), ["PROCESSING"] * len(ids)])
        raw.commit()
        count += len(ids)
    return count, time.perf_counter() - began
