"""What a claim makes of rows that are hard to read: each by itself, with those beside it."""

from __future__ import annotations

import importlib
import logging
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from notifications.channel import Channel
from notifications.models import Notification
from notifications.queue import Claimed, due
from notifications.queue.due import Row
from notifications.request.times import parse_instant
from notifications.status import Status
from notifyq.leasing.fixed import forget_made
from tests.support.rows import add, claim

pytestmark = pytest.mark.django_db
claim_module = importlib.import_module("notifications.queue.claim")


@pytest.mark.parametrize("fraction", ["", ".5", ".999999"])
def test_claim__expires_in_the_last_second_there_is__is_taken_like_any_other(fraction: str) -> None:
    [late] = add(expires_at=parse_instant(f"9999-12-31T23:59:59{fraction}Z"))
    [row] = claim()

    assert (row.id, row.expires_at) == (late, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    assert row.ttl_seconds is not None
    assert row.ttl_seconds > timedelta(days=365 * 7_000).total_seconds()


def test_claim__one_cannot_be_read__keeps_its_lease_and_the_others_are_handed_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, bad, last = (add()[0] for _ in range(3))
    real = claim_module._claimed

    def read(row: Row, token: UUID, content: dict[str, Any]) -> Claimed:
        if row["id"] == bad:
            raise OverflowError("private text")
        claimed: Claimed = real(row, token, content)
        return claimed

    monkeypatch.setattr(claim_module, "_claimed", read)
    with caplog.at_level(logging.ERROR):
        rows = claim(limit=3)

    assert [row.id for row in rows] == [first, last]
    left = Notification.objects.get(pk=bad)
    assert (left.status, left.attempt_count) == (Status.PROCESSING, 1)
    [record] = caplog.records
    assert (record.message, vars(record)["error"]) == ("claim_unreadable", "OverflowError")
    assert "private" not in caplog.text


def test_claim__its_query_is_made_of_something_else__goes_by_that_once_told(monkeypatch: pytest.MonkeyPatch) -> None:
    add(2)
    claim()
    waiting = due._waiting
    monkeypatch.setattr(due, "_waiting", lambda *which: waiting(*which).filter(channel=Channel.SMS))

    forget_made()

    assert claim() == []
