"""How many notifications a second one worker process claims, delivers and settles, with a provider that is free."""

from __future__ import annotations

import threading
import time
from typing import Self

from notifications.channel import Channel
from notifications.delivery.worker import Role, Worker, WorkerOptions
from notifications.providers.base import Capabilities, Message, Provider, ProviderSettings
from notifications.providers.chains import Chain
from notifications.retry import Backoff
from notifications.verdict import Verdict
from notifyq.bench import bare, rows
from notifyq.bench.plan import Plan, progress, tell_rates
from ratelimits.window import Limit

RATE_LIMIT = Limit(10, 3600.0)


class NoopProvider(Provider):
    """Accepts everything at once."""

    kind = "noop"
    channels = frozenset(Channel)

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        return cls(name, Capabilities(dedupe_window_seconds=86_400.0))

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        return Verdict.accepted(str(message.id))


def a_noop_provider() -> Provider:
    """One that drops repeats, as the larger vendors do, so that no start of a send is put on record."""
    return NoopProvider("noop", Capabilities(dedupe_window_seconds=86_400.0))


def run(plan: Plan) -> None:
    """Alternates between the bare loop and the worker, so that neither has the quieter half of the time."""
    ours: list[float] = []
    limit: list[float] = []
    rows.clear()
    rows.prepare(plan.count)
    for number in range(1, plan.rounds + 1):
        progress(f"deliver: round {number} of {plan.rounds}")
        limit.append(_bare(plan))
        ours.append(_worker(plan))
    tell_rates("deliver", ours, limit)


def _bare(plan: Plan) -> float:
    rows.renew()
    with bare.connected() as raw:
        count, seconds = bare.drain(raw, plan.batch_size, plan.seconds)
    return count / seconds


def _worker(plan: Plan) -> float:
    rows.renew()
    provider = a_noop_provider()
    worker = Worker("bench", _options(plan), {channel: Chain((provider,)) for channel in Channel})
    bound = threading.Timer(plan.seconds, worker.stop)
    bound.start()
    began = time.perf_counter()
    worker.run()
    seconds = time.perf_counter() - began
    bound.cancel()
    return rows.sent_count() / seconds


def _options(plan: Plan) -> WorkerOptions:
    return WorkerOptions(
        role=Role.DELIVERY,
        seat_count=plan.concurrency,
        batch_size=plan.batch_size,
        channels=(),
        lease_seconds=300.0,
        send_timeout_seconds=10.0,
        poll_seconds=1.0,
        grace_seconds=30.0,
        backoff=Backoff(1.0, 60.0),
        rate_limit=RATE_LIMIT,
        wakeup=False,
        drain=True,
    )
