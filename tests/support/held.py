"""What a worker holds, made up: for tests of its parts without a database."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from notifications.channel import Channel, Priority
from notifications.delivery.held import Held
from notifications.outcome import Standing
from notifications.queue import Claimed
from notifyq.runtime.clock import elapsed


def claimed(**changes: Any) -> Claimed:
    fields: dict[str, Any] = {
        "id": uuid4(),
        "token": uuid4(),
        "client_id": UUID(int=0),
        "channel": Channel.EMAIL,
        "recipient": "ada@example.org",
        "rank": Priority.NORMAL,
        "cycle": 1,
        "standing": Standing(1, 6),
        "overdue_seconds": 0.0,
        "ttl_seconds": None,
        "unconfirmed_age_seconds": None,
        "content": {"subject": "", "body": "How are you?"},
    }
    return Claimed(**(fields | changes))


def held(lease_seconds: float = 60.0, **changes: Any) -> Held:
    return Held.since(claimed(**changes), elapsed(), lease_seconds)
