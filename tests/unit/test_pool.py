"""The pool of delivery threads and its buffer."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from notifications import outcome
from notifications.channel import Priority
from notifications.delivery.held import Finished, Held
from notifications.delivery.pool import DeliveryPool
from tests.support.held import held

PATIENT_SECONDS = 10.0
LOW, NORMAL, HIGH = Priority.LOW, Priority.NORMAL, Priority.HIGH


class _Bench:
    """A pool whose deliveries wait for a sign."""

    def __init__(self, seat_count: int) -> None:
        self.begun: list[Held] = []
        self.finished: list[Finished] = []
        self.room_count = 0
        self._go = threading.Semaphore(0)
        self._change = threading.Condition()
        self.pool = DeliveryPool(self._deliver, self._on_finished, self._on_room, seat_count)

    def _deliver(self, one: Held) -> Finished:
        with self._change:
            self.begun.append(one)
            self._change.notify_all()
        assert self._go.acquire(timeout=PATIENT_SECONDS)
        return Finished(one, outcome.given_back(one.claimed.standing))

    def _on_finished(self, finished: Finished) -> None:
        with self._change:
            self.finished.append(finished)
            self._change.notify_all()

    def _on_room(self) -> None:
        self.room_count += 1

    def let_go(self, count: int = 1) -> None:
        self._go.release(count)

    def wait_for_begun(self, count: int) -> None:
        with self._change:
            assert self._change.wait_for(lambda: len(self.begun) >= count, PATIENT_SECONDS)


@pytest.fixture
def one_seat() -> Iterator[_Bench]:
    bench = _Bench(1)
    bench.pool.start()
    yield bench
    bench.let_go(100)
    bench.pool.close()


def test_pool__one_seat__serves_priority_then_the_longest_due_whatever_the_order_they_came_in(
    one_seat: _Bench,
) -> None:
    first = held(rank=LOW)
    one_seat.pool.put([first])
    one_seat.wait_for_begun(1)
    later = [held(rank=p, overdue_seconds=s) for p, s in ((LOW, 9), (NORMAL, 1), (HIGH, 1), (NORMAL, 5))]
    one_seat.pool.put(later[:2])
    one_seat.pool.put(later[2:])  # claimed later, yet it goes before what waits in the buffer
    one_seat.let_go(5)
    assert one_seat.pool.wait_idle(PATIENT_SECONDS)
    assert one_seat.begun == [first, later[2], later[3], later[1], later[0]]


def test_take_back__returns_what_was_not_begun_and_leaves_what_was(one_seat: _Bench) -> None:
    rows = [held() for _ in range(4)]
    one_seat.pool.put(rows[:1])
    one_seat.wait_for_begun(1)
    one_seat.pool.put(rows[1:])
    assert one_seat.pool.held_count == 4
    assert set(map(id, one_seat.pool.take_back())) == set(map(id, rows[1:]))
    assert one_seat.pool.held_count == 1
    assert not one_seat.pool.wait_idle(0)
    one_seat.let_go()
    assert one_seat.pool.wait_idle(PATIENT_SECONDS)
    assert [f.held for f in one_seat.finished] == rows[:1]
    assert one_seat.pool.take_back() == []


def test_pool__one_delivery_hangs__delays_no_other() -> None:
    bench = _Bench(2)
    bench.pool.start()
    bench.pool.put([held() for _ in range(2)])
    bench.wait_for_begun(2)
    bench.pool.put([held() for _ in range(5)])
    bench.let_go(6)  # one seat goes on and on, the seventh sign is missing
    with bench._change:
        assert bench._change.wait_for(lambda: len(bench.finished) == 6, PATIENT_SECONDS)
    assert bench.pool.held_count == 1
    assert bench.room_count > 0
    bench.let_go()
    assert bench.pool.wait_idle(PATIENT_SECONDS)
    bench.pool.close()


def test_pool__a_thread_has_died__says_that_it_is_not_whole(one_seat: _Bench) -> None:
    assert one_seat.pool.is_whole
    one_seat.pool.close()
    one_seat.let_go()
    for thread in one_seat.pool._threads:
        thread.join(PATIENT_SECONDS)
    assert not one_seat.pool.is_whole
