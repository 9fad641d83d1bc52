"""When things happen: retries, deadlines, order, and how soon a worker wakes."""

from __future__ import annotations

import statistics
from datetime import datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest

from notifications.channel import Priority
from notifications.models import Attempt, Notification
from notifications.status import FINAL, Status, WaitingReason
from tests.support.rows import a_client, add, all_are, attempts_of, database_now, move
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

AT_ONCE_SECONDS = 1.0
"""Far below the poll of those tests, which is what they are about. The figure is for `manage.py bench wakeup`."""

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def _gaps(notification_id: UUID) -> list[float]:
    """Seconds between the end of each attempt and the beginning of the next."""
    tries = Attempt.objects.filter(notification=notification_id).order_by("number")
    return [_seconds(before.finished_at, after.started_at) for before, after in pairwise(tries)]


def _seconds(earlier: datetime, later: datetime | None) -> float:
    assert later is not None
    return (later - earlier).total_seconds()


def _watch_waits(seen: set[tuple[int, float]]) -> int:
    """Note (failed attempts, seconds to wait) of all that wait for a retry; returns how many are not final yet."""
    waiting = Notification.objects.filter(waiting_reason=WaitingReason.RETRY_BACKOFF)
    rows = waiting.values_list("attempt_count", "due_at", "updated_at")
    seen |= {(failed, (due_at - decided_at).total_seconds()) for failed, due_at, decided_at in rows}
    return Notification.objects.exclude(status__in=list(FINAL)).count()


def test_retries__of_a_temporary_failure__wait_as_promised_and_end_after_six_attempts(fleet: Fleet) -> None:
    ids = add(10, recipient="temporary@example.org")
    [refused] = add(recipient="reject@example.org")
    fleet.start(NOTIFYQ_BACKOFF_BASE_SECONDS="0.2", NOTIFYQ_BACKOFF_MAX_SECONDS="1")
    seen: set[tuple[int, float]] = set()
    wait_until(lambda: _watch_waits(seen) == 0, 40, "all final")
    for wanted in ids:
        assert attempts_of(wanted) == [(n, "TEMPORARY", "not_accepted") for n in range(1, 7)]
    ended = set(Notification.objects.filter(id__any=ids).values_list("status", "attempt_count"))
    assert ended == {(Status.DEAD_LETTERED, 6)}
    longest = {1: 0.2, 2: 0.4, 3: 0.8, 4: 1.0, 5: 1.0}  # the last two at the cap
    assert {failed for failed, _ in seen} == set(longest)
    assert all(longest[failed] / 2 < wait <= longest[failed] for failed, wait in seen)
    gaps = [_gaps(wanted) for wanted in ids]
    for failed, wait in longest.items():
        # Never early; how late depends on how busy this machine is. (The instants come from different statements.)
        assert min(g[failed - 1] for g in gaps) > wait / 2 - 0.05
        assert min(g[failed - 1] for g in gaps) <= wait + 0.5
    assert attempts_of(refused) == [(1, "REJECTED", "recipient_rejected")]
    assert Notification.objects.get(pk=refused).status == Status.FAILED


def test_expiry__wherever_the_time_to_live_ends__no_provider_hears_of_it(fleet: Fleet, sandbox: Sandbox) -> None:
    sandbox.set_weather(latencyMs=2000)
    client = a_client()
    [slow] = add(client=client, priority=Priority.HIGH)
    [behind] = add(client=client)
    [parked] = add(client=client, due_at=database_now() + timedelta(days=1))
    [over] = add(client=client)
    move(behind, expires_at=1.2)
    move(parked, expires_at=0.5)
    move(over, expires_at=-1)
    workers = fleet.start("--concurrency", "1", NOTIFYQ_SEND_TIMEOUT_SECONDS="5", ready=1)
    wait_until(lambda: all_are(Status.EXPIRED, 3), 20, "three EXPIRED")
    wait_until(lambda: Notification.objects.get(pk=slow).status == Status.SENT, 20, "the slow one SENT")
    assert [m["key"] for m in sandbox.messages()] == [str(slow)]
    assert sandbox.stats()[0] == 1
    expired = Notification.objects.filter(status=Status.EXPIRED)
    assert set(expired.values_list("attempt_count", "last_error_code")) == {(0, "expired")}
    assert not Attempt.objects.exclude(notification=slow).exists()
    assert workers.stop() == 0


def test_expiry__while_it_is_unknown_whether_it_was_sent_and_nobody_can_be_asked__is_a_dead_letter(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    [wanted] = add(recipient="hang@example.org")
    slow = {"NOTIFYQ_BACKOFF_BASE_SECONDS": "60", "NOTIFYQ_BACKOFF_MAX_SECONDS": "60"}
    fleet.start(NOTIFYQ_SEND_TIMEOUT_SECONDS="0.5", NOTIFYQ_SANDBOX_LOOKUP="false", **slow)
    wait_until(lambda: Attempt.objects.filter(outcome="UNCONFIRMED").exists(), 20, "unconfirmed")
    move(wanted, expires_at=-0.001)
    wait_until(lambda: all_are(Status.DEAD_LETTERED, 1), 20, "dead-lettered")
    assert Notification.objects.get().last_error_code == "UNCONFIRMED"
    assert sandbox.stats()[0] == 1


def test_priority__one_seat__arrives_high_before_normal_before_low(fleet: Fleet, sandbox: Sandbox) -> None:
    client, due_at = a_client(), database_now()
    for priority in (Priority.LOW, Priority.NORMAL, Priority.HIGH):
        add(10, client=client, priority=priority, due_at=due_at, recipient=f"{priority.name.lower()}@example.org")
    fleet.start("--concurrency", "1", "--batch-size", "1", ready=1)
    wait_until(lambda: all_are(Status.SENT, 30), 30, "all SENT")
    arrived = [m["recipient"].partition("@")[0] for m in sandbox.messages()]
    assert arrived == ["high"] * 10 + ["normal"] * 10 + ["low"] * 10


def test_send_at__idle_workers_with_a_long_poll__the_vendor_hears_of_it_within_a_second(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    fleet.start(NOTIFYQ_POLL_SECONDS="30")
    client, now = a_client(), database_now()
    due = {}
    for number in range(20):
        due_at = now + timedelta(seconds=1.5 + number * 0.1)
        due[str(add(client=client, due_at=due_at)[0])] = due_at
    wait_until(lambda: all_are(Status.SENT, 20), 30, "all SENT")
    late = [(datetime.fromisoformat(m["acceptedAt"]) - due[m["key"]]).total_seconds() for m in sandbox.messages()]
    assert min(late) >= 0
    assert max(late) <= 1


def _seconds_to_start() -> float:
    """Store one notification; how long until its send began."""
    [wanted] = add()
    row = Notification.objects.filter(pk=wanted)
    wait_until(lambda: row.get().status == Status.SENT, 20, "SENT")
    return _seconds(row.get().created_at, Attempt.objects.get(notification=wanted).started_at)


def test_wakeup__idle_workers_with_a_long_poll__claim_at_once_what_is_committed(fleet: Fleet) -> None:
    workers = fleet.start(NOTIFYQ_POLL_SECONDS="30")
    workers.wait_for("wakeup_on", 2)
    medians = []
    for _ in range(3):  # a busy machine may spoil one round
        waited = [_seconds_to_start() for _ in range(20)]
        assert max(waited) <= 5  # without the wake-up it would be half a minute
        medians.append(statistics.median(waited))
        if medians[-1] <= AT_ONCE_SECONDS:
            break
    assert min(medians) <= AT_ONCE_SECONDS, medians


def test_wakeup__switched_off__polling_delivers_all_the_same(fleet: Fleet) -> None:
    workers = fleet.start(NOTIFYQ_WAKEUP="false")
    add(5)
    wait_until(lambda: all_are(Status.SENT, 5), 20, "all SENT")
    assert workers.stop() == 0
    assert not workers.events("wakeup_on")
