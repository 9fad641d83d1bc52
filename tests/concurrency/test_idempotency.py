"""Rivals with the same idempotency key: real threads, real connections, and the database decides."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections, transaction

from notifications import services
from notifications.errors import IdempotencyConflict
from notifications.models import Notification
from notifyq.runtime import wakeup
from tests.support.api import Caller, email
from tests.support.factories import ClientFactory

pytestmark = pytest.mark.django_db(transaction=True)
RIVALS = 25


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    """Its thread would outlive the test with a connection of its own."""
    monkeypatch.setattr(wakeup._notifier, "ring", lambda: None)


def at_once(*acts):
    """Start all acts at the same instant, each on a connection of its own; their results in order."""
    barrier = threading.Barrier(len(acts))

    def run(act):
        try:
            connection.ensure_connection()
            barrier.wait(timeout=20)
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [f.result(timeout=60) for f in [pool.submit(run, act) for act in acts]]


def test_create__many_identical_at_once__one_is_new_and_the_rest_are_repeats():
    caller = Caller()

    answers = at_once(*[lambda: caller.post(body=email())] * RIVALS)

    assert Counter(a.status_code for a in answers) == {201: 1, 200: RIVALS - 1}
    assert {a.json()["id"] for a in answers} == {str(Notification.objects.get().pk)}
    assert all(a["Idempotency-Replayed"] == "true" for a in answers if a.status_code == 200)


def test_create__same_key_other_details_at_once__one_wins_and_the_rest_conflict():
    caller = Caller()

    answers = at_once(*[lambda i=i: caller.post(body=email(body=f"Body {i}")) for i in range(8)])

    assert Counter(a.status_code for a in answers) == {201: 1, 409: 7}
    assert Notification.objects.count() == 1


def test_create__same_key_of_two_clients_at_once__both_are_new():
    one, other = Caller(), Caller()

    answers = at_once(lambda: one.post(body=email()), lambda: other.post(body=email()))

    assert [a.status_code for a in answers] == [201, 201]


def submit(client, **changes):
    values = {"channel": "EMAIL", "recipient": "ada@example.com", "subject": "s", "body": "b", **changes}
    return services.submit(client=client, idempotency_key="key-1", **values)


class Rival:
    """A submit on another connection, started while this one holds the key in an open transaction."""

    def __init__(self, client, **changes) -> None:
        self._pid = None
        self._connected = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._result = self._pool.submit(self._run, client, changes)

    def _run(self, client, changes):
        try:
            connection.ensure_connection()
            self._pid = connection.connection.info.backend_pid
            self._connected.set()
            return submit(client, **changes)
        finally:
            connections.close_all()

    def wait_until_blocked(self):
        """Returns once the rival waits for this connection, which PostgreSQL itself says."""
        assert self._connected.wait(20)
        mine = connection.connection.info.backend_pid
        for _ in range(2000):
            with connection.cursor() as cursor:
                cursor.execute("SELECT %s = ANY(pg_blocking_pids(%s)), pg_sleep(0.005)", [mine, self._pid])
                if cursor.fetchone()[0]:
                    return
        pytest.fail("the rival never waited")

    def result(self):
        try:
            return self._result.result(timeout=20)
        finally:
            self._pool.shutdown()


def test_submit__first_rolls_back__the_second_that_waited_creates_it():
    client = ClientFactory()

    with transaction.atomic():
        first = submit(client)
        rival = Rival(client)
        rival.wait_until_blocked()
        transaction.set_rollback(True)

    second = rival.result()
    assert second.created
    assert [n.pk for n in Notification.objects.all()] == [second.notification.pk] != [first.notification.pk]


def test_submit__first_commits__the_second_that_waited_is_a_repeat():
    client = ClientFactory()

    with transaction.atomic():
        first = submit(client)
        rival = Rival(client)
        rival.wait_until_blocked()

    second = rival.result()
    assert (second.created, second.notification) == (False, first.notification)


def test_submit__first_commits_other_details__the_second_that_waited_conflicts():
    client = ClientFactory()

    with transaction.atomic():
        submit(client)
        rival = Rival(client, body="Something else.")
        rival.wait_until_blocked()

    with pytest.raises(IdempotencyConflict):
        rival.result()
