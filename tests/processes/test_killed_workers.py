"""Workers that are killed, stopped or slow: nothing is lost, nothing is sent twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from notifications.channel import OnUnconfirmed
from notifications.models import Attempt, Notification, Worker
from notifications.status import Status
from notifications.verdict import Outcome
from tests.support.adapters import lines_of
from tests.support.mail_server import mail_server
from tests.support.rows import add, all_are, attempts_of, statuses
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet, Workers, database_url, is_stopped

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

SHORT = {"NOTIFYQ_LEASE_SECONDS": "3", "NOTIFYQ_SEND_TIMEOUT_SECONDS": "1"}


def _sent_count() -> int:
    return Notification.objects.filter(status=Status.SENT).count()


def _kill_a_child(workers: Workers) -> None:
    children = wait_until(workers.child_pids, 30, "it has children")
    os.kill(children[0], signal.SIGKILL)


def test_run_workers__killed_again_and_again__all_1000_are_sent_and_accepted_once(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(latencyMs=40)
    fast = {"NOTIFYQ_LEASE_SECONDS": "2", "NOTIFYQ_SEND_TIMEOUT_SECONDS": "1"}
    running = [fleet.start("--processes", "2", "--concurrency", "2", ready=2, **fast) for _ in range(2)]
    ids = add(1000)
    for number, reached in enumerate(range(100, 1000, 100)):
        wait_until(lambda: _sent_count() >= reached, 40, f"{reached} SENT")  # noqa: B023 (called at once)
        if number % 3 == 2:
            running.pop(0).kill_whole()
            running.append(fleet.start("--processes", "2", "--concurrency", "2", ready=0, **fast))
        else:
            _kill_a_child(running[0])
    wait_until(lambda: all_are(Status.SENT, 1000), 40, "all SENT")
    _, accepted, _ = sandbox.stats()
    assert accepted == 1000
    assert {m["key"] for m in sandbox.messages()} == {str(i) for i in ids}
    assert Attempt.objects.filter(outcome=Outcome.LOST).exists()  # else nothing was killed in the act
    assert Attempt.objects.filter(outcome=Outcome.ACCEPTED).count() == 1000


def test_run_workers__killed_while_sending_without_a_key__sends_none_twice_and_holds_only_what_was_begun(
    file_fleet: Fleet, tmp_path: Path
) -> None:
    ids = _send_and_kill(file_fleet, 300, {"NOTIFYQ_FILE_LATENCY_SECONDS": "0.03", **SHORT})
    _assert_none_twice_and_only_the_unsure_held(ids, lines_of(tmp_path / "sent"))


def test_run_workers__killed_while_sending_over_smtp__sends_none_twice_and_holds_only_what_was_begun(
    transactional_db: None, tmp_path: Path
) -> None:
    with mail_server(latency_seconds=0.03) as (bag, url):
        fleet = Fleet(
            tmp_path,
            NOTIFYQ_EMAIL_PROVIDERS="smtp",
            NOTIFYQ_SMTP_URL=url,
            NOTIFYQ_EMAIL_FROM="post@example.org",
        )
        try:
            ids = _send_and_kill(fleet, 300, SHORT)
        finally:
            fleet.end()
    _assert_none_twice_and_only_the_unsure_held(ids, [m.strip("<>").partition("@")[0] for m in bag.message_ids])


def _send_and_kill(fleet: Fleet, count: int, settings: dict[str, Any]) -> list[UUID]:
    """Send so many with HOLD while children and whole fleets are killed; returns their ids when all has ended."""
    ids = add(count, on_unconfirmed=OnUnconfirmed.HOLD)
    workers = fleet.start("--processes", "2", ready=1, **settings)
    for number, reached in enumerate((40, 80, 120, 160)):
        wait_until(lambda: _sent_count() >= reached, 60, f"{reached} SENT")  # noqa: B023 (called at once)
        if number % 2:
            workers.kill_whole()
            workers = fleet.start("--processes", "2", ready=1, **settings)
        else:
            _kill_a_child(workers)
    held = Notification.objects.filter(status=Status.DEAD_LETTERED)
    wait_until(lambda: _sent_count() + held.count() == count, 60, "all SENT or held")
    return ids


def _assert_none_twice_and_only_the_unsure_held(ids: list[UUID], sent_out: list[str]) -> None:
    held = Notification.objects.filter(status=Status.DEAD_LETTERED)
    assert len(sent_out) == len(set(sent_out))
    assert {str(i) for i in ids} - set(sent_out) <= {str(i) for i in held.values_list("pk", flat=True)}
    assert set(held.values_list("last_error_code", flat=True)) == {"UNCONFIRMED"}
    # Held is only what was begun: each has a loss (or, on a busy machine, a lost answer) on record, nothing else has.
    unsure = Attempt.objects.filter(outcome__in=[Outcome.LOST, Outcome.UNCONFIRMED])
    assert set(unsure.values_list("notification_id", flat=True)) == set(held.values_list("pk", flat=True))
    assert unsure.filter(outcome=Outcome.LOST).exists()


def test_run_workers__a_send_takes_many_polls__every_rescue_leaves_it_alone(fleet: Fleet, sandbox: Sandbox) -> None:
    sandbox.set_weather(latencyMs=2500)
    both = [fleet.start(NOTIFYQ_POLL_SECONDS="0.1", NOTIFYQ_SEND_TIMEOUT_SECONDS="8") for _ in range(2)]
    [wanted] = add()
    wait_until(lambda: all_are(Status.SENT, 1), 20, "SENT")
    assert sandbox.stats() == (1, 1, 0)
    assert attempts_of(wanted) == [(1, "ACCEPTED", "")]
    assert not [w for w in both if w.events("leases_rescued")]


def test_run_workers__stopped_beyond_its_lease_and_continued__its_late_verdict_changes_nothing(
    file_fleet: Fleet, tmp_path: Path
) -> None:
    keyed: dict[str, Any] = {"NOTIFYQ_EMAIL_PROVIDERS": "deadly", "NOTIFYQ_FILE_LATENCY_SECONDS": "0.8", **SHORT}
    frozen = file_fleet.start(ready=2, **keyed)
    [wanted] = add()
    wait_until(lambda: lines_of(tmp_path / "sent"), 20, "the first send has begun")
    pids = [frozen.pid, *frozen.child_pids()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(map(is_stopped, pids)), 10, "stopped")
    assert statuses() == {Status.PROCESSING: 1}
    other = file_fleet.start(ready=2, **keyed)
    wait_until(lambda: all_are(Status.SENT, 1), 20, "rescued and SENT by the other")
    settled = Notification.objects.get()
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    late = frozen.wait_for("batch_settled")[0]
    assert (late["stale"], late["outcomes"]) == (1, {"ACCEPTED": 1})
    now = Notification.objects.get()
    assert [getattr(now, f.attname) for f in now._meta.fields] == [
        getattr(settled, f.attname) for f in now._meta.fields
    ]
    assert [outcome for _, outcome, _ in attempts_of(wanted)] == ["LOST", "ACCEPTED"]
    assert other.events("leases_rescued")
    assert (frozen.stop(), other.stop()) == (0, 0)


@pytest.fixture
def commits_of_claims_wait(transactional_db: None) -> Iterator[Callable[[], None]]:
    """Every claim waits at its commit, inside the server, until the function given is called."""
    with psycopg.connect(database_url(), autocommit=True) as gate:
        gate.execute("SELECT pg_advisory_lock(20)")
        gate.execute(
            "CREATE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN PERFORM pg_advisory_xact_lock_shared(20); RETURN NULL; END'"
        )
        gate.execute(
            "CREATE CONSTRAINT TRIGGER wait_at_the_gate AFTER UPDATE ON notifications_notification "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'PROCESSING') "
            "EXECUTE FUNCTION wait_at_the_gate()"
        )

        def let_go() -> None:
            gate.execute("SELECT pg_advisory_unlock_all()")

        yield let_go
        let_go()
        gate.execute("DROP FUNCTION wait_at_the_gate CASCADE")


def _waiting_at_the_gate() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return bool(cursor.fetchone()[0])


def test_run_workers__a_child_dies_while_its_claim_commits__the_rows_are_back_long_before_the_lease_ends(
    fleet: Fleet, commits_of_claims_wait: Callable[[], None]
) -> None:
    workers = fleet.start(NOTIFYQ_LEASE_SECONDS="600")
    wait_until(lambda: Worker.objects.count() == 2, 10, "both have beaten")
    child = workers.child_with_role("delivery")
    add(3)
    wait_until(_waiting_at_the_gate, 10, "a claim waits at its commit")
    os.kill(child, signal.SIGKILL)
    workers.wait_for("worker_started", 3)  # so the supervisor has taken back what it could see
    commits_of_claims_wait()
    wait_until(lambda: all_are(Status.SENT, 3), 20, "SENT, though a dead worker had them for a while")
    assert set(Notification.objects.values_list("attempt_count", flat=True)) == {1}
