"""What a worker that freezes, or cannot settle, may cost the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Self

import pytest
from django.db import DatabaseError, connection, transaction

from notifications import queue
from notifications.channel import Channel
from notifications.delivery.worker import Role, Worker, WorkerOptions
from notifications.models import Notification
from notifications.models import Worker as WorkerRow
from notifications.providers.base import Capabilities, Message, Provider, ProviderSettings
from notifications.providers.chains import Chain
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Verdict
from notifyq.leasing import claim as leasing_claim
from tests.support.rivals import Rival
from tests.support.rows import add, claim
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


class Counting(Provider):
    """Accepts everything at once."""

    kind = "counting"
    channels = frozenset(Channel)

    def __init__(self) -> None:
        super().__init__("counting", Capabilities(dedupe_window_seconds=60.0))
        self.sent_count = 0
        self._lock = threading.Lock()

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        return cls()

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        with self._lock:
            self.sent_count += 1
        return Verdict.accepted("m")


OPTIONS = WorkerOptions(
    role=Role.DELIVERY,
    seat_count=2,
    batch_size=10,
    channels=(),
    lease_seconds=60,
    send_timeout_seconds=1,
    poll_seconds=0.05,
    grace_seconds=5,
    backoff=Backoff(1, 60),
    rate_limit=None,
    wakeup=False,
    drain=False,
)


class _Beats:
    """Counts the heartbeats of the worker: each is a round in which it could have claimed."""

    def __init__(self) -> None:
        self._seen: set[datetime] = set()

    def passed(self, count: int) -> bool:
        self._seen |= set(WorkerRow.objects.values_list("beat_at", flat=True))
        return len(self._seen) > count


@pytest.fixture
def provider() -> Counting:
    return Counting()


@pytest.fixture
def worker(provider: Counting) -> Iterator[Worker]:
    worker = Worker("worker", replace(OPTIONS), dict.fromkeys(Channel, Chain((provider,))))
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    yield worker
    worker.stop()
    thread.join(20)
    assert not thread.is_alive()


def test_worker__its_verdicts_cannot_be_written__stops_claiming_before_it_has_sent_the_whole_backlog(
    worker: Worker, provider: Counting
) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE notifications_attempt IN SHARE MODE")  # claims go on, settling waits
        Rival(lambda: add(500)).start().result()
        wait_until(lambda: provider.sent_count > 0, 10, "the first is sent")
        held = Notification.objects.filter(status=Status.PROCESSING)
        beats = _Beats()
        wait_until(lambda: provider.sent_count == held.count() and beats.passed(5), 10, "it sends no more")
        assert provider.sent_count <= 100
    wait_until(lambda: Notification.objects.filter(status=Status.SENT).count() == 500, 20, "all SENT afterwards")
    assert provider.sent_count == 500


def test_claim__its_worker_freezes_in_mid_transaction__the_rows_come_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leasing_claim, "STATEMENT_TIMEOUT_SECONDS", 0.3)
    [wanted] = add()
    locked, go_on = threading.Event(), threading.Event()
    real_lock = queue.claim.__globals__["lock_due"]

    def freeze(*args: object, **options: object) -> object:
        rows = real_lock(*args, **options)
        if rows:
            locked.set()
            assert go_on.wait(20)
        return rows

    monkeypatch.setitem(queue.claim.__globals__, "lock_due", freeze)
    frozen = Rival(lambda: claim(worker_id="frozen", limit=1, lease_seconds=60)).start()
    assert locked.wait(20)
    monkeypatch.setitem(queue.claim.__globals__, "lock_due", real_lock)
    [row] = wait_until(lambda: claim(worker_id="other", limit=1, lease_seconds=60), 10, "another gets it")
    go_on.set()
    with pytest.raises(DatabaseError):
        frozen.result()
    assert row.id == wanted
    assert Notification.objects.get().worker_id == "other"
