"""The sentence on the page of a webhook event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from webhooks.models import WebhookEndpoint
from webhooks.standing import EventFacts, closed, standing
from webhooks.status import EventStatus
from webhooks.story import host_of

NOW = datetime(2026, 1, 31, 8, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
FAILING = closed(is_deleted=False, enabled=False, reason="FAILING")


def said(status: EventStatus, **known: Any) -> str:
    columns: dict[str, Any] = {
        "attempt_count": 0,
        "error_code": "",
        "response_status": None,
        "answer": "-",
        "due_at": NOW,
        "closed": "",
        "finished_at": LATER,
        "lease_expires_at": LATER,
        "worker_id": "w-1",
    }
    parts = standing(EventFacts(status=status, **(columns | known)), NOW)
    return "".join("T" if isinstance(part, datetime) else str(part) for part in parts)


@pytest.mark.parametrize(
    ("status", "known", "told"),
    [
        ("PENDING", {}, "It has been due since T, and no dispatcher has taken it yet."),
        ("PENDING", {"due_at": LATER}, "It is tried for the first time at T."),
        (
            "PENDING",
            {"due_at": LATER, "attempt_count": 2, "answer": "503"},
            "Try 2 came to 503. It is tried again at T.",
        ),
        ("PENDING", {"closed": "was deleted"}, "Its endpoint was deleted: it is cancelled as soon as a dispatcher"),
        ("PROCESSING", {}, "It is on its way, held by w-1 until T."),
        ("DELIVERED", {"answer": "200"}, "Its endpoint took it with 200 at T."),
        (
            "FAILED",
            {"attempt_count": 8, "answer": "timeout"},
            "All 8 tries failed, the last with timeout at T.",
        ),
        ("FAILED", {"error_code": "bug"}, "The service itself failed on it at T. The dispatcher's log says more."),
        ("CANCELLED", {"response_status": 410}, "Its endpoint answered 410 Gone: it wants no more events"),
        (
            "CANCELLED",
            {"closed": FAILING},
            "Its endpoint is disabled, as it failed for days, so it was given up",
        ),
        ("CANCELLED", {"closed": "was deleted"}, "Its endpoint was deleted, so it was given up at T."),
        (
            "CANCELLED",
            {},
            "Its endpoint was disabled then, so it was given up at T. It takes events again",
        ),
    ],
)
def test_standing__of_an_event__says_why_and_what_helps(status: str, known: dict[str, Any], told: str) -> None:
    assert said(EventStatus(status), **known).startswith(told)


@pytest.mark.parametrize(
    ("url", "description", "shown"),
    [
        ("http://127.0.0.1:8001/hooks/shop", "", "127.0.0.1:8001"),
        ("https://hooks.example.com/", "", "hooks.example.com"),
        ("https://u:secret@hooks.example.com/a?token=secret", "", "hooks.example.com"),
        ("https://hooks.example.com/s/0123456789abcdefghijk/x", "", "hooks.example.com"),
        ("https://hooks.example.com/a", "the shop's", "the shop's"),
    ],
)
def test_endpoint__in_a_list__is_told_from_others_without_a_secret(url: str, description: str, shown: str) -> None:
    assert host_of(WebhookEndpoint(url=url, description=description)) == shown
