"""The notifications that `up` sends first: to whom, how long they are followed, and what is said of them."""

from unittest.mock import Mock

import pytest

from notifications.channel import Channel
from notifications.request.recipients import canonical_recipient
from notifyq.sandbox.magic import recognise
from notifyq.up import first

STORED = {"id": "1", "createdAt": "2026-01-01T00:00:00Z", "dueAt": "2026-01-01T00:59:00Z", "finishedAt": None}


@pytest.mark.parametrize("channel", Channel)
def test_sample__of_each_start__has_another_ordinary_recipient(channel):
    recipients = {first.sample(channel)["recipient"] for _ in range(20)}

    assert len(recipients) > 15
    assert {canonical_recipient(channel, r) for r in recipients} == recipients
    assert {recognise(channel, r) for r in recipients} == {None}


@pytest.mark.parametrize("reason", ["RATE_LIMITED", "PAUSED"])
def test_send__has_to_wait_for_long__is_followed_no_further_and_says_why(monkeypatch, reason):
    wait = Mock(side_effect=AssertionError("it must not wait"))
    waiting = STORED | {"status": "PENDING", "waitingReason": reason}
    monkeypatch.setattr(first.Client, "_call", lambda *_, **__: waiting)

    shown = first.Client("http://127.0.0.1:1", "key", wait).send("EMAIL")

    assert first.steps(shown)[-1] == f"still PENDING because of {reason}, until 2026-01-01T00:59:00Z or later"
