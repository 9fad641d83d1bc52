"""What a notification looks like from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from notifications import panels
from notifications.channel import Priority
from notifications.counting import Counts
from notifications.models import Attempt, InboxEntry, LookUp, Notification, OperatorAction, Pause, Receipt
from notifications.outages import NO_OUTAGES, Outages
from notifications.selectors import BreakerView
from notifications.status import Status
from notifyq.runtime.instants import rfc3339


def nothing_is_out() -> Outages:
    """For answers that tell what is stored."""
    return NO_OUTAGES


def notification(row: Notification, outages: Callable[[], Outages] = nothing_is_out) -> dict[str, Any]:
    """The answer object; without the bodies.

    Args:
        outages: what keeps those that are due. Asked only for one that may be kept so; give one that remembers its
            answer to show many.
    """
    may_be_kept = row.status == Status.PENDING and row.parked_by is None
    out = outages() if may_be_kept else NO_OUTAGES
    return {
        "id": str(row.pk),
        "groupId": str(row.group_id) if row.group_id else None,
        "status": row.status,
        "waitingReason": out.reason(row) or None,
        "channel": row.channel,
        "recipient": row.recipient,
        "subject": row.content.subject or None,
        "priority": Priority(row.priority).name,
        "sendAt": rfc3339(row.send_at),
        "dueAt": rfc3339(out.due_at(row)),
        "expiresAt": rfc3339(row.expires_at),
        "attemptCount": row.attempt_count,
        "maxAttempts": row.max_attempts,
        "provider": row.provider or None,
        "lastUsedProvider": row.last_used_provider or None,
        "providerMessageId": row.provider_message_id or None,
        "reconciledAt": rfc3339(row.reconciled_at),
        "deliveryStatus": row.delivery_status or None,
        "lastError": _last_error(row),
        "operatorRetryCount": row.operator_retry_count,
        "userId": row.user_id or None,
        "reference": row.reference or None,
        "metadata": row.content.metadata,
        "createdAt": rfc3339(row.created_at),
        "updatedAt": rfc3339(row.updated_at),
        "finishedAt": rfc3339(row.finished_at),
    }


def group(group_id: UUID, rows: Iterable[Notification]) -> dict[str, Any]:
    """What a request with several targets made."""
    return {"groupId": str(group_id), "notifications": [notification(row) for row in rows]}


def notification_in_full(row: Notification, outages: Callable[[], Outages] = nothing_is_out) -> dict[str, Any]:
    """The answer object with the content and the history."""
    content = row.content
    return notification(row, outages) | {
        "body": content.body,
        "htmlBody": content.html_body or None,
        "data": content.data,
        "fromName": content.from_name or None,
        "replyTo": content.reply_to or None,
        "collapseKey": content.collapse_key or None,
        "onUnconfirmed": row.on_unconfirmed,
        "attempts": [attempt(a) for a in row.attempts.all()],
        "receipts": [receipt(r) for r in row.receipts.filter(credited=True)],
        "lookUps": [look_up(found) for found in row.look_ups.all()],
        "webhookEvents": [],
        "operatorActions": [operator_action(a) for a in row.operator_actions.all()],
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
        "startedAt": rfc3339(row.started_at),
        "finishedAt": rfc3339(row.finished_at),
    }


def inbox_entry(row: InboxEntry) -> dict[str, Any]:
    """One entry of a user's inbox."""
    return {
        "id": str(row.pk),
        "notificationId": str(row.notification_id),
        "client": row.client.name,
        "userId": row.user_id,
        "subject": row.subject or None,
        "body": row.body,
        "data": row.data,
        "collapseKey": row.collapse_key or None,
        "createdAt": rfc3339(row.created_at),
        "expiresAt": rfc3339(row.expires_at),
        "readAt": rfc3339(row.read_at),
    }


def receipt(row: Receipt) -> dict[str, Any]:
    """One thing that a provider reported later."""
    return {
        "provider": row.provider,
        "status": row.status,
        "vendorStatus": row.word or None,
        "code": row.code or None,
        "message": row.text or None,
        "providerMessageId": row.provider_message_id or None,
        "occurredAt": rfc3339(row.at),
        "receivedAt": rfc3339(row.received_at),
    }


def look_up(row: LookUp) -> dict[str, Any]:
    """What a provider said about a send in doubt."""
    return {
        "cycle": row.cycle,
        "provider": row.provider,
        "found": row.found,
        "errorCode": row.error_code or None,
        "errorMessage": row.error_message or None,
        "askedCount": row.asked_count,
        "firstAskedAt": rfc3339(row.first_asked_at),
        "lastAskedAt": rfc3339(row.last_asked_at),
    }


def pause(row: Pause) -> dict[str, Any]:
    """One pause in force."""
    return {
        "id": str(row.pk),
        "scope": row.scope,
        "value": row.value or None,
        "reason": row.reason or None,
        "createdAt": rfc3339(row.created_at),
        "createdBy": row.created_by,
    }


def breaker(view: BreakerView) -> dict[str, Any]:
    """The health of one provider on one channel."""
    row = view.row
    error = {"code": row.last_error_code, "message": row.last_error_message or None, "at": rfc3339(row.last_error_at)}
    act = {"act": row.act, "by": row.acted_by, "at": rfc3339(row.acted_at), "reason": row.act_reason or None}
    return breaker_state(view) | {
        "consecutiveFailures": row.failures,
        "openedAt": rfc3339(row.opened_at),
        "failingSince": rfc3339(row.failing_since),
        "probeDueAt": rfc3339(row.probe_due_at),
        "trips": row.trips,
        "lastError": error if row.last_error_code else None,
        "lastAct": act if row.act else None,
        "throttledUntil": rfc3339(view.throttled_until),
        "ratePerSecond": view.rate_per_second,
    }


def breaker_state(view: BreakerView) -> dict[str, Any]:
    """The same in short."""
    row = view.row
    return {"channel": row.channel, "provider": row.provider, "state": row.state, "trippedByOperator": row.tripped}


def operator_action(row: OperatorAction) -> dict[str, Any]:
    """What an operator did to it."""
    return {
        "action": row.action,
        "actor": {"kind": row.actor_kind, "name": row.actor},
        "reason": row.reason or None,
        "statusBefore": row.status_before,
        "details": row.details,
        "createdAt": rfc3339(row.created_at),
    }


def counts(found: Counts) -> dict[str, Any]:
    """How many notifications there are."""
    age = found.oldest_due_age_seconds
    return {
        "counts": {
            status.value: {channel.value: count for channel, count in by_channel.items()}
            for status, by_channel in found.by_status.items()
        },
        "isComplete": found.is_complete,
        "oldestDueAgeSeconds": None if age is None else max(0.0, round(age, 3)),
    }


def _last_error(row: Notification) -> dict[str, str | None] | None:
    if not row.last_error_code:
        return None
    return {"code": row.last_error_code, "message": row.last_error_message or None}
