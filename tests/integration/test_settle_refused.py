"""A value that the database refuses costs its own text, never the batch."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from notifications import outcome, queue
from notifications.models import Attempt, Notification
from notifications.queue import AttemptRecord, Claimed, Ending
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Outcome, Verdict
from tests.support.rows import add, claim

pytestmark = pytest.mark.django_db


def _ending(row: Claimed, verdict: Verdict) -> Ending:
    decision = outcome.after_verdict(
        row.standing, verdict, provider="p", may_send_again=True, backoff=Backoff(1, 60), dice=random.Random(0)
    )
    record = AttemptRecord(
        *(1, 1, 1, "p", verdict.outcome, verdict.error_code, verdict.error_message, verdict.provider_message_id),
        *(1.0, 0.0, "worker"),
    )
    return Ending(row.id, row.token, decision, (record,))


@pytest.mark.parametrize("bad", ["\0", "\ud800", "x" * 600], ids=["NUL", "surrogate", "too long"])
@pytest.mark.parametrize("field", ["error_code", "error_message", "provider_message_id"])
def test_settle__one_text_is_refused__every_row_of_the_batch_is_settled(field: str, bad: str) -> None:
    add(9)
    rows = claim(worker_id="worker", limit=9, lease_seconds=60)
    endings = [_ending(row, Verdict.rejected("no", "never")) for row in rows]
    sick = endings[4]
    change: dict[str, Any] = {field: bad}
    attempts = tuple(replace(attempt, **change) for attempt in sick.attempts)
    endings[4] = replace(sick, decision=replace(sick.decision, **change), attempts=attempts)
    applied = queue.settle(endings)
    assert {e.id for e in applied} == {row.id for row in rows}
    assert set(Notification.objects.values_list("status", flat=True)) == {Status.FAILED}
    assert Attempt.objects.filter(outcome=Outcome.REJECTED).count() == 9
    untouched = Notification.objects.exclude(pk=sick.id).values_list("last_error_code", "last_error_message")
    assert set(untouched) == {("no", "never")}


@pytest.mark.parametrize("made", [Verdict.rejected, Verdict.temporary, Verdict.provider_fault, Verdict.unconfirmed])
def test_verdict__of_a_vendor_that_sends_no_text__can_be_stored(made: Callable[[str, str], Verdict]) -> None:
    verdict = made("co\0de\ud800\n", "me\0ssage\ud800\n")
    assert (verdict.error_code, verdict.error_message) == ("co de?", "me ssage?")
