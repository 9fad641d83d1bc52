"""The dispatcher as a real process, killed, stopped and starved in every way."""

import os
import signal
import threading
import time
from collections import Counter, defaultdict

import pytest
from django.db import connection

from notifications import queue as notification_queue
from notifications.models import Notification, Worker
from notifications.outcome import Decision
from notifications.status import Status
from tests.support.dispatchers import DispatcherProcess, eventually
from tests.support.fault_server import FaultServer
from tests.support.receiver import Answer, Receiver
from tests.support.rows import claim
from tests.support.webhook_rows import SECRET, a_client, an_endpoint, an_event, notifications, reloaded, some_events
from webhooks.models import WebhookAttempt, WebhookEvent
from webhooks.queue import add_test_event
from webhooks.status import EventStatus

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def finish(status: Status) -> None:
    """Claim and settle all that is due, as the workers do."""
    while claimed := claim(worker_id="w", limit=500, lease_seconds=60):
        decision = Decision(status=status, error_code="" if status == Status.SENT else "refused")
        notification_queue.settle([notification_queue.Ending(c.id, c.token, decision) for c in claimed])


def all_delivered() -> bool:
    return not WebhookEvent.objects.exclude(status=EventStatus.DELIVERED).exists()


def test_dispatcher__killed_again_and_again_over_1000_events__every_one_arrives(tmp_path):
    client = a_client()
    with Receiver() as receiver:
        an_endpoint(receiver.url, client=client)
        notifications(500, client=client)
        finish(Status.FAILED)
        Notification.objects.update(status=Status.PENDING, finished_at=None, attempt_count=0)
        finish(Status.SENT)
        expected = {str(pk) for pk in WebhookEvent.objects.values_list("pk", flat=True)}
        for _ in range(4):
            with DispatcherProcess(tmp_path) as dispatcher:
                already = len(receiver.requests)
                receiver.wait_for_count(already + 60, 40)
                dispatcher.kill()
        killed_at = len(receiver.requests)
        with DispatcherProcess(tmp_path):
            eventually(all_delivered, 40, "all are delivered")
        received = receiver.requests

    assert 240 <= killed_at < 1000
    assert len(expected) == 1000
    assert {r.event_id for r in received} == expected
    assert len(received) <= 1000 + 4 * 64  # only what a killed one held, four seats with runs of 16, can come twice
    outcomes = defaultdict(set)
    for request in received:
        document = request.verify(SECRET)
        outcomes[document["jobId"]].add((document["sequence"], document["status"]))
    assert len(outcomes) == 500
    assert all(told == {(1, "FAILED"), (2, "SENT")} for told in outcomes.values())
    assert Counter(r.body for r in received).keys() == set(WebhookEvent.objects.values_list("body", flat=True))


def hang(peer):
    peer.read_request()
    peer.wait_until_gone()


def test_endpoint__that_hangs_with_many_events__delays_neither_others_nor_notifications(tmp_path):
    client = a_client()
    with FaultServer(hang) as hanging, Receiver() as receiver:
        sick = an_endpoint(hanging.url, client=client)
        some_events(sick, 500)
        an_endpoint(receiver.url, client=client)
        with DispatcherProcess(tmp_path, NOTIFYQ_WEBHOOK_TIMEOUT_SECONDS="3"):
            eventually(lambda: hanging.requests, 20, "the first calls hang")
            waits = []
            for number in range(5):
                notifications(1, client=client)
                began = time.monotonic()
                finish(Status.SENT)
                settled = time.monotonic()
                receiver.wait_for_count(number + 1, 10)
                waits.append(time.monotonic() - settled)
                assert settled - began < 1.0
            assert max(waits) < 1.5
            # Once it is known to be failing, it gets one call at a time.
            eventually(lambda: WebhookAttempt.objects.filter(event__endpoint=sick).count() >= 5, 20, "it has failed")
            held = WebhookEvent.objects.filter(endpoint=sick, status=EventStatus.PROCESSING).count()

    assert held <= 1
    assert WebhookEvent.objects.filter(endpoint=sick, attempt_count=0).count() >= 480


def test_dispatcher__idle__is_woken_by_an_outcome_long_before_its_poll(tmp_path):
    client = a_client()
    with Receiver() as receiver, DispatcherProcess(tmp_path, NOTIFYQ_POLL_SECONDS="30") as dispatcher:
        dispatcher.wait_for_log("wakeup_on")
        an_endpoint(receiver.url, client=client)
        waits = []
        for number in range(10):
            notifications(1, client=client)
            finish(Status.SENT)
            settled = time.monotonic()
            receiver.wait_for_count(number + 1, 10)
            waits.append(time.monotonic() - settled)

    assert min(waits) < 0.1
    assert max(waits) < 5


def test_dispatcher__dies_after_the_200_and_before_its_write__sends_the_event_again(tmp_path):
    stopped = threading.Event()
    running: dict[str, int] = {}

    def answer(request):
        if not stopped.is_set():
            os.kill(running["pid"], signal.SIGSTOP)  # it gets the answer, and never comes to read it
            stopped.set()
        return Answer(200)

    with Receiver(answer) as receiver:
        event = an_event(an_endpoint(receiver.url), due_at="2100-01-01T00:00:00Z")
        with DispatcherProcess(tmp_path) as dispatcher:
            running["pid"] = dispatcher.process.pid
            WebhookEvent.objects.update(due_at=event.created_at)
            assert stopped.wait(20)
            receiver.wait_for_count(1, 10)
            dispatcher.kill()
        assert reloaded(event).status == EventStatus.PROCESSING
        with DispatcherProcess(tmp_path):
            eventually(all_delivered, 20, "it is delivered")
        first, second = receiver.requests

    assert (first.event_id, first.body) == (second.event_id, second.body)
    assert int(second.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"])
    assert second.verify(SECRET)
    assert [a.error_code for a in event.attempts.all()] == ["lost", ""]
    assert reloaded(event).attempt_count == 1  # a first loss costs nothing


def test_dispatcher__sigterm_with_a_call_on_its_way__finishes_it_and_leaves_in_good_order(tmp_path):
    asked, go_on = threading.Event(), threading.Event()

    def answer(request):
        asked.set()
        go_on.wait(20)
        return Answer(200)

    with Receiver(answer) as receiver:
        endpoint = an_endpoint(receiver.url)
        events = some_events(endpoint, 20)
        with DispatcherProcess(tmp_path, NOTIFYQ_WEBHOOK_TIMEOUT_SECONDS="15") as dispatcher:
            assert asked.wait(20)
            receiver.wait_for_count(4, 10)
            eventually(lambda: Worker.objects.filter(role="webhooks").exists(), 10, "its heartbeat")
            dispatcher.process.send_signal(signal.SIGTERM)
            go_on.set()
            assert dispatcher.process.wait(15) == 0
            summary = [line for line in dispatcher.log().splitlines() if line.startswith("webhooks: ")]

    statuses = Counter(WebhookEvent.objects.values_list("status", flat=True))
    assert statuses == {"DELIVERED": len(receiver.requests), "PENDING": len(events) - len(receiver.requests)}
    assert summary == [f"webhooks: {len(receiver.requests)} delivered, 0 to be tried again, 0 failed, 0 cancelled"]
    assert not Worker.objects.filter(role="webhooks").exists()


def test_dispatcher__loses_all_its_connections__goes_on_with_new_ones(tmp_path):
    with Receiver() as receiver, DispatcherProcess(tmp_path) as dispatcher:
        dispatcher.wait_for_log("wakeup_on")
        endpoint = an_endpoint(receiver.url)
        add_test_event(endpoint)
        receiver.wait_for_count(1, 10)
        called = Worker.objects.filter(role="webhooks", finished_count=1, progressed_at__isnull=False, seat_count=32)
        eventually(called.exists, 10, "the call is its progress")

        def answer(request):
            cut_others()  # while a call is on its way: its result finds no connection
            return Answer(200)

        receiver.answer = answer
        add_test_event(endpoint)
        eventually(all_delivered, 15, "the result was kept")
        receiver.answer = lambda request: Answer(200)
        add_test_event(endpoint)
        eventually(all_delivered, 15, "new events are found")
        assert dispatcher.stop() == 0

    assert WebhookEvent.objects.count() == 3


def cut_others():
    """As a restart of the server does, for everybody but whoever asks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = '' AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' AND pid <> ALL (%s)",
            [MINE],
        )
    connection.close()


MINE: list[int] = []


@pytest.fixture(autouse=True)
def _remember_own_connection(transactional_db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        MINE[:] = [cursor.fetchone()[0]]


def test_command__one_pass__delivers_what_is_due_and_exits_0(tmp_path):
    with Receiver() as receiver:
        some_events(an_endpoint(receiver.url), 30)
        with (
            DispatcherProcess(tmp_path, "--concurrency", "8") as one,
            DispatcherProcess(tmp_path, "--concurrency=8") as two,
        ):
            assert (one.process.wait(30), two.process.wait(30)) == (0, 0)
        counts = Counter(r.event_id for r in receiver.requests)

    assert set(counts.values()) == {1}
    assert len(counts) == 30
