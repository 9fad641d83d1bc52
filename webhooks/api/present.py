"""What endpoints and events look like from outside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from notifyq.runtime.instants import rfc3339
from webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent


def endpoint(row: WebhookEndpoint) -> dict[str, Any]:
    """The answer object; never with a secret."""
    return {
        "id": str(row.pk),
        "url": row.url,
        "description": row.description,
        "events": list(row.events),
        "enabled": row.enabled,
        "disabledAt": rfc3339(row.disabled_at),
        "disabledReason": row.disabled_reason or None,
        "failingSince": rfc3339(row.failing_since),
        "previousSecretExpiresAt": rfc3339(row.previous_expires_at),
        "createdAt": rfc3339(row.created_at),
        "updatedAt": rfc3339(row.updated_at),
    }


def endpoint_with_secret(row: WebhookEndpoint, secret: str) -> dict[str, Any]:
    """The same with its secret, at the only two moments when it is shown."""
    return endpoint(row) | {"secret": secret}


def event(row: WebhookEvent) -> dict[str, Any]:
    """The answer object; without what was sent."""
    return {
        "eventId": str(row.pk),
        "endpointId": str(row.endpoint_id),
        "notificationId": str(row.notification_id) if row.notification_id else None,
        "type": row.type,
        "sequence": row.sequence,
        "status": row.status,
        "cycle": row.cycle,
        "attemptCount": row.attempt_count,
        "dueAt": rfc3339(row.due_at),
        "lastErrorCode": row.last_error_code or None,
        "lastResponseStatus": row.last_response_status,
        "createdAt": rfc3339(row.created_at),
        "finishedAt": rfc3339(row.finished_at),
    }


def event_in_full(row: WebhookEvent, attempts: Iterable[WebhookAttempt]) -> dict[str, Any]:
    """The answer object with what is sent and the history."""
    return event(row) | {"payload": json.loads(row.body), "attempts": [attempt(a) for a in attempts]}


def attempt(row: WebhookAttempt) -> dict[str, Any]:
    """One call."""
    took = None if row.started_at is None else (row.finished_at - row.started_at).total_seconds()
    return {
        "cycle": row.cycle,
        "number": row.number,
        "responseStatus": row.response_status,
        "responseExcerpt": row.response_excerpt or None,
        "errorCode": row.error_code or None,
        "startedAt": rfc3339(row.started_at),
        "finishedAt": rfc3339(row.finished_at),
        "durationMs": None if took is None else round(took * 1000),
    }
