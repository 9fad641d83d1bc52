"""What a notification looks like from outside."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from notifications import panels
from notifications.channel import Priority
from notifications.models import Attempt, Notification


def notification(row: Notification) -> dict[str, Any]:
    """The answer object; without the bodies."""
    return {
        "id": str(row.pk),
        "groupId": str(row.group_id) if row.group_id else None,
        "status": row.status,
        "waitingReason": row.waiting_reason or None,
        "channel": row.channel,
        "recipient": row.recipient,
        "subject": row.content.subject or None,
        "priority": Priority(row.priority).name,
        "sendAt": instant(row.send_at),
        "dueAt": instant(row.due_at),
        "expiresAt": instant(row.expires_at),
        "attemptCount": row.attempt_count,
        "maxAttempts": row.max_attempts,
        "provider": row.provider or None,
        "lastUsedProvider": row.last_used_provider or None,
        "providerMessageId": row.provider_message_id or None,
        "reconciledAt": None,
        "deliveryStatus": None,
        "lastError": _last_error(row),
        "operatorRetryCount": row.operator_retry_count,
        "userId": row.user_id or None,
        "reference": row.reference or None,
        "metadata": row.content.metadata,
        "createdAt": instant(row.created_at),
        "updatedAt": instant(row.updated_at),
        "finishedAt": instant(row.finished_at),
    }


def notification_in_full(row: Notification) -> dict[str, Any]:
    """The answer object with the content and the history."""
    content = row.content
    return notification(row) | {
        "body": content.body,
        "htmlBody": content.html_body or None,
        "data": content.data,
        "fromName": content.from_name or None,
        "replyTo": content.reply_to or None,
        "collapseKey": content.collapse_key or None,
        "onUnconfirmed": row.on_unconfirmed,
        "attempts": [attempt(a) for a in row.attempts.all()],
        "webhookEvents": [],
        "operatorActions": [],
        **panels.fields_of(row.pk),
    }


def attempt(row: Attempt) -> dict[str, Any]:
    """One try with its outcome."""
    return {
        "cycle": row.cycle,
        "number": row.number,
        "hop": row.hop,
        "provider": row.provider or None,
        "outcome": row.outcome,
        "errorCode": row.error_code or None,
        "errorMessage": row.error_message or None,
        "providerMessageId": row.provider_message_id or None,
        "startedAt": instant(row.started_at),
        "finishedAt": instant(row.finished_at),
    }


def instant(value: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the microsecond."""
    return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _last_error(row: Notification) -> dict[str, str | None] | None:
    if not row.last_error_code:
        return None
    return {"code": row.last_error_code, "message": row.last_error_message or None}
