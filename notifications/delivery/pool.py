"""The bounded pool of delivery threads and the small buffer before it."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Iterable

from notifications.channel import Channel
from notifications.delivery.held import Finished, Held


class DeliveryPool:
    """Threads over one shared buffer of single notifications, the best first.

    No notification is tied to a thread, so one that hangs delays no other; and a HIGH one that is claimed later still
    goes before the LOW ones that wait in the buffer.
    """

    def __init__(
        self,
        deliver: Callable[[Held], Finished],
        on_finished: Callable[[Finished], None],
        on_room: Callable[[], None],
        seat_count: int,
    ) -> None:
        self._deliver = deliver
        self._on_finished = on_finished
        self._on_room = on_room
        self._seat_count = seat_count
        self._tie = itertools.count()
        self._buffer: list[tuple[tuple[int, float], int, Held]] = []
        self._changed = threading.Condition()
        self._in_flight_count = 0
        self._closed = False
        self.finished_count = 0
        self._threads = [
            threading.Thread(target=self._serve, name=f"deliver-{n}", daemon=True) for n in range(seat_count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    @property
    def held_count(self) -> int:
        """Notifications waiting in the buffer or on their way."""
        with self._changed:
            return len(self._buffer) + self._in_flight_count

    @property
    def buffered_count(self) -> int:
        """Notifications waiting in the buffer, for a free seat."""
        return len(self._buffer)

    def waiting_count(self, channel: Channel) -> int:
        """Notifications of a channel that wait in the buffer."""
        with self._changed:
            return sum(held.claimed.channel == channel for _, _, held in self._buffer)

    @property
    def is_whole(self) -> bool:
        """All threads live. They never end by themselves; if one did, the process had better start anew."""
        return all(thread.is_alive() for thread in self._threads)

    def put(self, rows: Iterable[Held]) -> None:
        entries = [(held.order, next(self._tie), held) for held in rows]
        with self._changed:
            for entry in entries:
                heapq.heappush(self._buffer, entry)
            self._changed.notify_all()

    def take_back(self) -> list[Held]:
        """Empty the buffer: what was not begun."""
        with self._changed:
            unstarted = [held for _, _, held in self._buffer]
            self._buffer.clear()
            return unstarted

    def wait_idle(self, timeout_seconds: float) -> bool:
        """Wait until nothing is held; False when it took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._buffer and not self._in_flight_count, timeout_seconds)

    def close(self) -> None:
        """Let the threads end as soon as they are free."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _serve(self) -> None:
        held = self._take()
        while held is not None:
            self._on_finished(self._deliver(held))
            held = self._done_take_next()

    def _done_take_next(self) -> Held | None:
        """Both under one lock, as all the threads and the claimer share it."""
        with self._changed:
            self._in_flight_count -= 1
            self.finished_count += 1
            running_low = len(self._buffer) < self._seat_count
            held = self._pop() if self._buffer else None
            if not self._in_flight_count:
                self._changed.notify_all()
        if running_low:
            self._on_room()
        return held or self._take()

    def _take(self) -> Held | None:
        with self._changed:
            self._changed.wait_for(lambda: self._buffer or self._closed)
            return self._pop() if self._buffer else None

    def _pop(self) -> Held:
        self._in_flight_count += 1
        return heapq.heappop(self._buffer)[2]
