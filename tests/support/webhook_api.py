"""Calling the webhook part of the API as a program would."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client as HttpClient

from notifications import accounts
from notifications.models import Client
from tests.support.webhook_rows import a_client

ENDPOINTS = "/api/v1/webhook-endpoints"
EVENTS = "/api/v1/webhook-events"


class Caller:
    """A holder of a key of its own client."""

    def __init__(self, client: Client | None = None, scopes: tuple[str, ...] = ("send", "read")) -> None:
        self.client = client or a_client()
        key = accounts.create_key(self.client, scopes)
        self._http = HttpClient(headers={"Authorization": f"Bearer {key.secret}"}, raise_request_exception=False)

    def __call__(self, method: str, path: str, body: Any = None, query: Any = None):
        raw = b"" if body is None else json.dumps(body).encode()
        return self._http.generic(method, path, raw, content_type="application/json", query_params=query)


def wrong_fields(response) -> dict[str, str]:
    """field → code of a 400."""
    assert response.status_code == 400, response.content
    assert response["Content-Type"] == "application/problem+json"
    return {e["field"]: e["code"] for e in response.json()["errors"]}
