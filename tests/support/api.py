"""Calling the API as a program would."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client as HttpClient

from tests.support.factories import ApiKeyFactory

NOTIFICATIONS = "/api/v1/notifications"


class Caller:
    """A holder of a key of its own client."""

    def __init__(self, key=None, **key_columns) -> None:
        self.key = key or ApiKeyFactory(**key_columns)
        self.client = self.key.client
        self._http = HttpClient(headers={"Authorization": f"Bearer {self.key.secret}"}, raise_request_exception=False)

    def post(self, path: str = NOTIFICATIONS, body: Any = None, **headers: str):
        """`body` as bytes is sent as it is, anything else as JSON; None sends none."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._http.post(path, data=raw, content_type="application/json", headers=sent)

    def get(self, path: str = NOTIFICATIONS, query: Any = None, **headers: str):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._http.get(path, data=query, headers=sent)

    def request(self, method: str, path: str, **more):
        return self._http.generic(method, path, **more)


def email(**changes: Any) -> dict[str, Any]:
    """A valid request."""
    valid = {
        "channel": "EMAIL",
        "recipient": "ada@example.com",
        "subject": "Hello",
        "body": "It works.",
        "idempotencyKey": "key-1",
    }
    return valid | changes


def sms(**changes: Any) -> dict[str, Any]:
    return {"channel": "SMS", "recipient": "+14155550100", "body": "It works.", "idempotencyKey": "key-1"} | changes


def push(**changes: Any) -> dict[str, Any]:
    return {"channel": "PUSH", "recipient": "fcm:token", "body": "It works.", "idempotencyKey": "key-1"} | changes


def fields_of(response) -> list[str]:
    """The fields that a problem document names."""
    assert response["Content-Type"] == "application/problem+json", response.content
    document = response.json()
    assert set(document) == {"type", "title", "status", "detail", "errors"}
    assert document["status"] == response.status_code
    return [e["field"] for e in document["errors"]]
