"""A simulated vendor and a worker inside the test's own process: the vendor goes down, the worker meets it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from notifications.channel import Channel
from notifications.delivery.worker import Role, Worker, WorkerOptions, new_worker_id
from notifications.providers import chains
from notifications.retry import Backoff
from notifyq.env import Environment
from notifyq.sandbox.server import SandboxServer
from notifyq.sandbox.store import Store
from notifyq.sandbox.vendor import Vendor
from notifyq.sandbox.weather import Weather

DRAIN_SECONDS = 30
OPTIONS = WorkerOptions(
    role=Role.DELIVERY,
    seat_count=4,
    batch_size=50,
    channels=(),
    lease_seconds=60,
    send_timeout_seconds=5,
    poll_seconds=0.05,
    grace_seconds=5,
    backoff=Backoff(0.02, 0.05),
    rate_limit=None,
    wakeup=False,
    drain=True,
)


class SimulatedVendor:
    """The sandbox provider's server, in a thread."""

    def __init__(self, vendor: Vendor, url: str) -> None:
        self._vendor = vendor
        self.url = url

    def go_down(self) -> None:
        self._vendor.set_weather(Weather(down=True))

    def come_back(self) -> None:
        self._vendor.set_weather(Weather())

    @property
    def accepted_count(self) -> int:
        return self._vendor.store.counters().accepted

    def drain(self) -> None:
        """Let one worker deliver through it whatever is due."""
        with self._worker(drain=True):
            pass

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let one worker deliver through it until the block ends."""
        with self._worker(drain=False) as worker:
            try:
                yield
            finally:
                worker.stop()

    @contextmanager
    def _worker(self, *, drain: bool) -> Iterator[Worker]:
        """One in a thread, as each keeps a connection of its own; the block ends when it does."""
        names = dict.fromkeys((Channel.EMAIL, Channel.SMS, Channel.PUSH), ("sandbox",))
        built = chains.build(names, Environment({"NOTIFYQ_SANDBOX_URL": self.url}))
        worker = Worker(new_worker_id(Role.DELIVERY), replace(OPTIONS, drain=drain), built)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        yield worker
        thread.join(DRAIN_SECONDS)
        chains.close(built)
        assert not thread.is_alive()


@contextmanager
def simulated_vendor(store: Path) -> Iterator[SimulatedVendor]:
    """Serves until the block ends."""
    books = Store(store)
    server = SandboxServer("127.0.0.1", 0)
    server.vendor = Vendor(books)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield SimulatedVendor(server.vendor, server.url)
    finally:
        server.stop()
        thread.join(5)
        books.close()
