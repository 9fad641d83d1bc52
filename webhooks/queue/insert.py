"""New events: one for each endpoint that wants to know, in the transaction of the outcome itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from notifications import selectors
from notifications.push_target import NO_PUSH_TARGET
from notifyq.leasing.arrays import literal
from notifyq.runtime.ids import uuid7
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.queue.wake import wake_dispatchers_after_commit
from webhooks.status import EventStatus

TEST_TYPE = "webhook.test"

# A version 7 UUID (RFC 9562, section 5.7), which PostgreSQL can make by itself only from version 18 on: a random one of
# version 4, its first six bytes replaced by the milliseconds, its version set to 7.
_UUID7 = """
encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
    substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid
"""

# One statement for all ids of a batch. Indexes: the primary keys of notification and content, the endpoints' client.
# Materialized, so that no plan made on old statistics looks for the notifications once for each endpoint. Without any
# endpoint the EXISTS, run once, leaves nothing to do. An endpoint that the service disabled (not its
# owner) gets its events as CANCELLED, so that they can be replayed when it is back.
# Parameters: ids. Locks: key share on the endpoints and notifications, by the foreign keys.
_RECORD = f"""
WITH done AS MATERIALIZED (
    SELECT n.id, n.client_id, n.status, n.attempt_count, n.finished_at, n.channel, n.reference, n.outcome_sequence,
           n.last_error_code, n.last_error_message
      FROM notifications_notification AS n
     WHERE n.id = ANY (%s::uuid[]) AND EXISTS (SELECT FROM webhooks_webhookendpoint))
INSERT INTO webhooks_webhookevent
       (id, status, endpoint_id, notification_id, sequence, type, finished_at, body)
SELECT e.id, CASE WHEN e.enabled THEN 'PENDING' ELSE 'CANCELLED' END, e.endpoint_id, e.notification_id, e.sequence,
       e.type, CASE WHEN NOT e.enabled THEN now() END, (SELECT row_to_json(b)::text FROM (
           SELECT e.id AS "eventId", e.notification_id AS "jobId", e.outcome AS "status",
                  e.attempt_count AS "attemptCount",
                  to_char(e.outcome_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "timestamp",
                  e.type AS "type", e.channel AS "channel", e.reference AS "reference", e.metadata AS "metadata",
                  e.error AS "error", e.sequence AS "sequence") AS b)
  FROM (SELECT {_UUID7} AS id, w.id AS endpoint_id, w.enabled, n.id AS notification_id, n.status AS outcome,
               n.attempt_count, n.finished_at AS outcome_at, 'notification.' || lower(n.status) AS type, n.channel,
               nullif(n.reference, '') AS reference, c.metadata, n.outcome_sequence AS sequence,
               CASE WHEN n.status <> 'SENT' AND n.last_error_code <> ''
                      OR n.last_error_code = '{NO_PUSH_TARGET}' THEN json_build_object(
                   'code', n.last_error_code, 'message', nullif(n.last_error_message, '')) END AS error
          FROM done AS n
          JOIN webhooks_webhookendpoint AS w ON w.client_id = n.client_id AND n.status = ANY (w.events)
          JOIN notifications_content AS c ON c.notification_id = n.id
         WHERE w.deleted_at IS NULL AND (w.enabled OR w.disabled_reason <> '')) AS e
    ON CONFLICT (notification_id, endpoint_id, sequence) DO NOTHING
"""  # noqa: S608 (a constant)


def record_outcomes(notification_ids: Sequence[UUID]) -> None:
    """Write the events of notifications that the present transaction has moved to a final state.

    A repeat for the same outcomes writes none.

    Transaction: the caller's; the events are there if and when the outcome is. Dispatchers are woken after it.
    """
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [literal(notification_ids)])
        written = cursor.rowcount > 0
    if written:
        wake_dispatchers_after_commit()


def add_test_event(endpoint: WebhookEndpoint) -> WebhookEvent:
    """An event of its own type, delivered like all others. Each call makes another.

    Transaction: one of its own, or the caller's; the dispatchers are woken after its commit.
    """
    now = selectors.database_now()
    identity = uuid7()
    body = _test_body(str(identity), now.isoformat(timespec="microseconds").replace("+00:00", "Z"))
    with transaction.atomic():
        event = WebhookEvent.objects.create(
            id=identity,
            status=EventStatus.PENDING,
            endpoint=endpoint,
            sequence=0,
            type=TEST_TYPE,
            body=json.dumps(body, separators=(",", ":")),
            due_at=now,
            created_at=now,
        )
        wake_dispatchers_after_commit()
    return event


def _test_body(event_id: str, timestamp: str) -> dict[str, Any]:
    """Every field of a real one, so that a receiver's parser meets no surprise; nothing of it happened."""
    return {
        "eventId": event_id,
        "jobId": None,
        "status": None,
        "attemptCount": 0,
        "timestamp": timestamp,
        "type": TEST_TYPE,
        "channel": None,
        "reference": None,
        "metadata": {},
        "error": None,
        "sequence": 0,
    }
