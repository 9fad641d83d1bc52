"""What is due and waits for a provider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from notifications.channel import Channel
from notifications.outages import NO_OUTAGES, Outage, Outages

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FAILS = Outage(NOW - 5 * MINUTE, NOW + MINUTE)
TRIPPED = Outage(NOW - MINUTE, None)
RESTS = Outage(None, NOW + 2 * MINUTE)
PUSH = {"fcm:x": ("fcm",), "apns:x": ("apns",)}


@dataclass
class Row:
    status: str = "PENDING"
    channel: str = "EMAIL"
    recipient: str = "ada@example.com"
    due_at: datetime = NOW
    waiting_reason: str = ""
    parked_by: UUID | None = None
    unconfirmed_provider: str = ""


def serving(channel: Channel, recipient: str) -> tuple[str, ...]:
    return PUSH[recipient] if channel is Channel.PUSH else ("a", "b")


def outages(paused: tuple[str, ...] = (), channel: Channel = Channel.EMAIL, **out: Outage) -> Outages:
    return Outages(NOW, {(channel, name): outage for name, outage in out.items()}, frozenset(paused), serving)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (outages(a=FAILS, b=FAILS), FAILS),
        (outages(a=FAILS, b=TRIPPED), Outage(TRIPPED.since, FAILS.next_call_at)),
        (outages(a=TRIPPED, b=TRIPPED), TRIPPED),
        (outages(a=FAILS, b=RESTS), Outage(None, FAILS.next_call_at)),
        (outages(a=FAILS), None),
        (outages(a=FAILS, paused=("b",)), FAILS),
        (outages(paused=("a", "b")), None),
        (outages(a=FAILS, b=FAILS, channel=Channel.SMS), None),
        (NO_OUTAGES, None),
    ],
)
def test_keeping__what_is_due__is_what_keeps_all_that_could_take_it(found: Outages, expected: Outage | None) -> None:
    row = Row(waiting_reason="RETRY_BACKOFF")
    assert found.keeping(row) == expected
    assert found.reason(row) == ("PROVIDER_UNAVAILABLE" if expected else "RETRY_BACKOFF")


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "PROCESSING"},
        {"status": "SENT"},
        {"due_at": NOW + MINUTE, "waiting_reason": "SCHEDULED"},
        {"parked_by": UUID(int=1), "waiting_reason": "PAUSED"},
    ],
)
def test_keeping__what_waits_for_something_else__keeps_its_reason(changes: dict[str, object]) -> None:
    row = replace(Row(), **changes)
    found = outages(a=FAILS, b=FAILS)
    assert found.keeping(row) is None
    assert found.reason(row) == row.waiting_reason


def test_keeping__bound_to_one__goes_by_that_one_alone() -> None:
    bound = Row(unconfirmed_provider="a")
    assert outages(a=FAILS).keeping(bound) == FAILS
    assert outages(b=FAILS).keeping(bound) is None


def test_keeping__of_devices__goes_by_who_serves_them() -> None:
    found = outages(channel=Channel.PUSH, fcm=FAILS)
    assert found.keeping(Row(channel="PUSH", recipient="fcm:x")) == FAILS
    assert found.keeping(Row(channel="PUSH", recipient="apns:x")) is None
