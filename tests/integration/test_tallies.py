"""Counting outcomes as they happen."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from notifications import counting, queue
from notifications.models import OutcomeTally
from notifications.outcome import Decision
from notifications.queue import Ending
from notifications.queue.tallies import HOUR, MINUTE, tally
from notifications.status import Status
from tests.support.factories import NotificationFactory

pytestmark = pytest.mark.django_db


def counted() -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for row in OutcomeTally.objects.all():
        found[row.status, row.channel] = found.get((row.status, row.channel), 0) + row.count
    return found


def rows(age: timedelta, count: int = 1, *, span_seconds: int = 0, status: Status = Status.SENT) -> OutcomeTally:
    return OutcomeTally.objects.create(
        at=timezone.now() - age, status=status, channel="EMAIL", count=count, span_seconds=span_seconds
    )


def test_settle__some_end_and_one_goes_back__those_that_end_are_counted() -> None:
    held = [NotificationFactory(status=Status.PROCESSING) for _ in range(4)]
    to = [Status.SENT, Status.SENT, Status.FAILED, Status.PENDING]
    queue.settle([Ending(n.pk, n.claim_token, Decision(status)) for n, status in zip(held, to, strict=True)])
    assert counted() == {("SENT", "EMAIL"): 2, ("FAILED", "EMAIL"): 1}


def test_settle__twice__is_counted_once() -> None:
    held = NotificationFactory(status=Status.PROCESSING)
    for _ in range(2):
        queue.settle([Ending(held.pk, held.claim_token, Decision(Status.SENT))])
    assert counted() == {("SENT", "EMAIL"): 1}


def test_cancel__is_counted_too() -> None:
    waiting = NotificationFactory(status=Status.PENDING)
    queue.cancel(waiting.pk)
    assert counted() == {("CANCELLED", "EMAIL"): 1}


def test_fold__rows_of_past_minutes__become_one_each_and_add_up() -> None:
    minute = timezone.now().replace(second=0, microsecond=0)
    for second in range(5):
        OutcomeTally.objects.create(
            at=minute - timedelta(minutes=3, seconds=-second), status="SENT", channel="EMAIL", count=2
        )
    queue.fold_tallies()
    late = OutcomeTally.objects.create(
        at=minute - timedelta(minutes=2, seconds=30), status="SENT", channel="EMAIL", count=1
    )
    assert late.pk
    queue.fold_tallies()
    (folded,) = OutcomeTally.objects.all()
    assert (folded.at, folded.span_seconds, folded.count) == (minute - timedelta(minutes=3), MINUTE, 11)


def test_fold__this_minute__is_left_alone() -> None:
    tally([NotificationFactory(status=Status.SENT).pk])
    queue.fold_tallies()
    assert OutcomeTally.objects.get().span_seconds == 0


def test_fold__minutes_of_the_day_before__become_hours() -> None:
    for minutes in (1, 2):
        rows(timedelta(days=1, hours=3, minutes=minutes), 5, span_seconds=MINUTE)
    rows(timedelta(hours=3), 7, span_seconds=MINUTE)
    queue.fold_tallies()
    assert sum(OutcomeTally.objects.filter(span_seconds=HOUR).values_list("count", flat=True)) == 10
    assert OutcomeTally.objects.get(span_seconds=MINUTE).count == 7


def test_fold__older_than_kept__is_forgotten() -> None:
    rows(timedelta(days=91), span_seconds=HOUR)
    rows(timedelta(days=89), span_seconds=HOUR)
    queue.fold_tallies()
    assert OutcomeTally.objects.count() == 1


def test_count_outcomes__folded_and_fresh__are_added_up_by_step() -> None:
    since = timezone.now() - timedelta(hours=1)
    for minutes in (50, 49, 5):
        rows(timedelta(minutes=minutes), 3)
    queue.fold_tallies()
    rows(timedelta(seconds=1), 1, status=Status.FAILED)
    steps = counting.count_outcomes(since, 1800)
    assert [(status, count) for _, status, count in steps if status is Status.SENT] == [("SENT", 6), ("SENT", 3)]
    assert [count for _, status, count in steps if status is Status.FAILED] == [1]
