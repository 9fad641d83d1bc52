"""How long after its commit a notification is claimed by an idle worker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import psycopg
from django.db import connection, transaction

from notifications import queue
from notifyq.bench import bare, rows
from notifyq.bench.plan import Plan, progress, tell, tell_times
from notifyq.runtime.wakeup import QUEUE_CHANNEL, Listener

READY_SECONDS = 10.0
GIVE_UP_SECONDS = 5.0
BARE_CHANNEL = "notifyq_bench"


def run(plan: Plan) -> None:
    """One notification at a time, the next only when the last was claimed."""
    rows.clear()
    count = min(plan.count, 500)
    progress(f"wakeup: {count} notifications, by hand")
    limit = _bare(count, plan.seconds)
    progress(f"wakeup: {count} notifications, through the queue")
    ours = _queue(count, plan.seconds)
    if not (ours and limit):
        tell("wakeup: no NOTIFY arrives here (behind a transaction pooler?); workers poll")
        return
    tell_times("wakeup", ours, limit)


def _queue(count: int, seconds: float) -> list[float]:
    woken = threading.Event()
    listener = Listener(QUEUE_CHANNEL, woken.set)
    listener.start()
    try:
        if not woken.wait(READY_SECONDS):  # it calls once as soon as it listens
            return []
        return _times(count, seconds, rows.one, lambda: _claimed(woken))
    finally:
        listener.stop()


def _claimed(woken: threading.Event) -> bool:
    until = time.perf_counter() + GIVE_UP_SECONDS
    while woken.wait(max(0.0, until - time.perf_counter())):
        woken.clear()
        if queue.claim(rows.CLAIMER, 100).rows:
            return True
    return False


def _bare(count: int, seconds: float) -> list[float]:
    """NOTIFY inside the writing transaction, which is the quickest there is for one writer, and a claim by hand."""
    with bare.connected() as listening, bare.connected() as claiming:
        listening.autocommit = True
        listening.execute(f"LISTEN {BARE_CHANNEL}")
        return _times(count, seconds, _submit_and_notify, lambda: _claimed_by_hand(listening, claiming))


def _submit_and_notify() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        rows.one()
        cursor.execute("SELECT pg_notify(%s, '')", [BARE_CHANNEL])


def _claimed_by_hand(listening: psycopg.Connection[object], claiming: psycopg.Connection[object]) -> bool:
    heard = any(True for _ in listening.notifies(timeout=GIVE_UP_SECONDS, stop_after=1))
    return heard and bool(bare.claim(claiming, 100)[0])


def _times(count: int, seconds: float, submit: Callable[[], object], claimed: Callable[[], bool]) -> list[float]:
    """Submits in a thread of its own, as a producer would, and measures from its commit to that of the claim."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    for _ in range(count):
        committed: list[float] = []

        def produce(committed: list[float] = committed) -> None:
            submit()
            committed.append(time.perf_counter())
            connection.close()

        producer = threading.Thread(target=produce)
        producer.start()
        was_claimed = claimed()
        ended = time.perf_counter()
        producer.join()
        if not was_claimed or ended > until:
            break
        times.append(max(0.0, ended - committed[0]))
    return times
