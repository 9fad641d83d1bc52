"""Heartbeats: a worker that is alive is told apart from one that gets on, whatever its role."""

from __future__ import annotations

import pytest

from notifications import heartbeats
from notifications.delivery.worker import Role
from notifications.models import Worker
from notifications.queue import beat
from tests.support.factories import ago

pytestmark = pytest.mark.django_db


def worker_of(**columns: object) -> heartbeats.WorkerState:
    Worker.objects.create(**{"id": "w", "role": "delivery", "host": "h", "pid": 1, "started_at": ago(3600)} | columns)
    (found,) = heartbeats.workers()
    return found


@pytest.mark.parametrize("role", ["delivery", "quarantine", "webhooks"])
def test_worker__holds_nothing__is_never_stuck(role: str) -> None:
    assert not worker_of(role=role, progressed_at=ago(3000)).is_stuck


@pytest.mark.parametrize("role", ["delivery", "quarantine", "webhooks"])
def test_worker__idle_for_long_took_something_just_now__is_not_stuck(role: str) -> None:
    assert not worker_of(role=role, held_count=1, progressed_at=ago(3000), busy_since=ago(2)).is_stuck


@pytest.mark.parametrize("role", ["delivery", "quarantine", "webhooks"])
def test_worker__holds_something_and_finishes_nothing__is_stuck(role: str) -> None:
    assert worker_of(role=role, held_count=1, busy_since=ago(2000)).is_stuck


def test_worker__dispatcher_within_the_time_of_its_calls__is_not_stuck(settings) -> None:
    patience = 3 * settings.NOTIFYQ.webhook_timeout_seconds
    assert not worker_of(role="webhooks", held_count=1, busy_since=ago(patience - 5)).is_stuck


def test_worker__some_of_what_it_holds_waits__counts_the_seats_alone() -> None:
    assert worker_of(held_count=15, buffered_count=7, seat_count=8).busy_count == 8


@pytest.mark.parametrize(("beat_seconds", "late", "at_work"), [(1, False, True), (8, True, False), (100, False, False)])
def test_worker__beats_left_out__is_late_before_it_is_silent(beat_seconds: int, late: bool, at_work: bool) -> None:
    found = worker_of(beat_at=ago(beat_seconds))
    assert (found.is_late, found.is_at_work) == (late, at_work)


def test_beat__busy_at_every_beat__keeps_since_when_until_it_is_free() -> None:
    def seen(held_count: int) -> Worker:
        beat("w", role="delivery", held_count=held_count, buffered_count=held_count)
        return Worker.objects.get(pk="w")

    assert seen(0).busy_since is None
    first = seen(2)
    assert first.busy_since is not None
    assert first.buffered_count == 2
    Worker.objects.update(busy_since=ago(60))
    assert seen(1).busy_since < first.busy_since
    assert seen(0).busy_since is None


def test_is_delivering__others_alone__is_false() -> None:
    worker_of(id="q", role="quarantine")
    Worker.objects.create(id="d", role="webhooks", host="h", pid=2)
    assert not heartbeats.is_delivering()
    Worker.objects.create(id="w", role=heartbeats.DELIVERY, host="h", pid=3)
    assert heartbeats.is_delivering()


def test_roles__named_here__are_those_of_the_workers() -> None:
    assert tuple(Role) == heartbeats.SENDING
