"""Examples for the OpenAPI document: what is sent, and what is answered to it. Tests hold them against the service."""

from __future__ import annotations

from typing import Any

from notifyq.rest.problem import field_error, invalid

_ID = "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"
_GROUP_ID = "01a22cbf-5d06-7a12-9c41-0d2b6f0e7a55"
_ACCEPTED_AT = "2030-01-31T08:00:00.000000Z"
_SENT_AT = "2030-01-31T08:00:00.412650Z"
_TOMORROW = "2030-02-01T08:00:00.000000Z"

REQUESTS: dict[str, dict[str, Any]] = {
    "An e-mail": {
        "channel": "EMAIL",
        "recipient": "ada@example.com",
        "subject": "Your order is on its way",
        "body": "Dear Ada, order 1234 left our warehouse today.",
        "reference": "order-1234",
        "idempotencyKey": "order-1234-shipped",
    },
    "A text message tomorrow": {
        "channel": "SMS",
        "recipient": "+14155550100",
        "body": "Your appointment is at 9:30.",
        "delaySeconds": 86400,
        "ttlSeconds": 3600,
        "idempotencyKey": "appointment-77-reminder",
    },
    "The same in two ways": {
        "targets": [
            {"channel": "EMAIL", "recipient": "ada@example.com"},
            {"channel": "SMS", "recipient": "+14155550100"},
        ],
        "subject": "Your order is on its way",
        "body": "Order 1234 left our warehouse today.",
        "idempotencyKey": "order-1234-both",
    },
    "A push message, and the same in the inbox": {
        "targets": [
            {"channel": "PUSH", "recipient": "fcm:cXk3vN0example"},
            {"channel": "IN_APP", "recipient": "user-42"},
        ],
        "subject": "Your parcel is here",
        "body": "Fetch it at the desk.",
        "data": {"screen": "parcels"},
        "collapseKey": "parcel-1234",
        "idempotencyKey": "parcel-1234-here",
    },
    "An urgent push message": {
        "channel": "PUSH",
        "recipient": "fcm:cXk3vN0example",
        "subject": "New sign-in",
        "body": "Was this you?",
        "data": {"screen": "security"},
        "priority": "HIGH",
        "collapseKey": "sign-in",
        "idempotencyKey": "sign-in-9001",
    },
}

ACCEPTED: dict[str, Any] = {
    "id": _ID,
    "groupId": None,
    "status": "PENDING",
    "waitingReason": None,
    "channel": "EMAIL",
    "recipient": "ada@example.com",
    "subject": "Your order is on its way",
    "priority": "NORMAL",
    "sendAt": _ACCEPTED_AT,
    "dueAt": _ACCEPTED_AT,
    "expiresAt": None,
    "attemptCount": 0,
    "maxAttempts": 6,
    "provider": None,
    "lastUsedProvider": None,
    "providerMessageId": None,
    "reconciledAt": None,
    "deliveryStatus": None,
    "lastError": None,
    "operatorRetryCount": 0,
    "userId": None,
    "reference": "order-1234",
    "metadata": {},
    "createdAt": _ACCEPTED_AT,
    "updatedAt": _ACCEPTED_AT,
    "finishedAt": None,
}
"""The answer to the first request, before a worker has seen it."""
SENT = ACCEPTED | {
    "status": "SENT",
    "attemptCount": 1,
    "provider": "smtp",
    "lastUsedProvider": "smtp",
    "providerMessageId": f"<{_ID}@mail.example.com>",
    "updatedAt": _SENT_AT,
    "finishedAt": _SENT_AT,
}
CANCELLED = ACCEPTED | {"status": "CANCELLED", "updatedAt": _SENT_AT, "finishedAt": _SENT_AT}
RESCHEDULED = ACCEPTED | {
    "waitingReason": "SCHEDULED",
    "sendAt": _TOMORROW,
    "dueAt": _TOMORROW,
    "updatedAt": _SENT_AT,
}
RETRIED = ACCEPTED | {
    "dueAt": "2030-01-31T09:00:00.000000Z",
    "lastUsedProvider": "smtp",
    "lastError": {"code": "connect_refused", "message": None},
    "operatorRetryCount": 1,
    "updatedAt": "2030-01-31T09:00:00.000000Z",
}
RESOLVED = SENT | {"providerMessageId": None, "updatedAt": _TOMORROW, "finishedAt": _TOMORROW}
GROUP = {
    "groupId": _GROUP_ID,
    "notifications": [
        ACCEPTED | {"groupId": _GROUP_ID, "reference": None},
        ACCEPTED
        | {
            "id": "01a22cbf-5d05-7797-8b38-3cc29ff8d9c9",
            "groupId": _GROUP_ID,
            "channel": "SMS",
            "recipient": "+14155550100",
            "subject": None,
            "reference": None,
        },
    ],
}
"""The answer to the third request."""
SUBJECT_MISSING = field_error("subject", "required", "is required")
BATCH = {
    "results": [
        {"index": 0, "status": 201, "notification": ACCEPTED},
        {"index": 1, "status": 400, "problem": invalid([SUBJECT_MISSING]).document()},
    ],
    "created": 1,
    "replayed": 0,
    "rejected": 1,
}
PAGE = {"results": [SENT], "next": None, "previous": None}
ATTEMPT = {
    "cycle": 1,
    "number": 1,
    "hop": 1,
    "provider": "smtp",
    "outcome": "ACCEPTED",
    "errorCode": None,
    "errorMessage": None,
    "providerMessageId": f"<{_ID}@mail.example.com>",
    "startedAt": "2030-01-31T08:00:00.031200Z",
    "finishedAt": "2030-01-31T08:00:00.398100Z",
}
RECEIPT = {
    "provider": "ses",
    "status": "DELIVERED",
    "vendorStatus": "Delivery",
    "code": None,
    "message": "250 2.0.0 OK",
    "providerMessageId": f"<{_ID}@mail.example.com>",
    "occurredAt": "2030-01-31T08:00:02.000000Z",
    "receivedAt": "2030-01-31T08:00:02.731400Z",
}
LOOK_UP = {
    "cycle": 1,
    "provider": "sandbox",
    "found": "UNKNOWN",
    "errorCode": "http_503",
    "errorMessage": "answered 503",
    "askedCount": 3,
    "firstAskedAt": "2030-01-31T08:00:03.120400Z",
    "lastAskedAt": "2030-01-31T08:00:14.861200Z",
}
IN_FULL = SENT | {
    "deliveryStatus": "DELIVERED",
    "body": "Dear Ada, order 1234 left our warehouse today.",
    "htmlBody": None,
    "data": {},
    "fromName": None,
    "replyTo": None,
    "collapseKey": None,
    "onUnconfirmed": "RETRY",
    "attempts": [ATTEMPT],
    "receipts": [RECEIPT],
    "lookUps": [],
    "webhookEvents": [],
    "operatorActions": [],
}
PAUSE = {
    "id": "01a22cc0-11aa-7b0e-8d57-52c0f3a9be10",
    "scope": "CHANNEL",
    "value": "SMS",
    "reason": "The texts name the wrong shop.",
    "createdAt": _ACCEPTED_AT,
    "createdBy": "Shop (nq_k2m4p6r8t9)",
}
