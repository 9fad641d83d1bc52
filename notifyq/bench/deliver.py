"""How many notifications a second one worker process claims, delivers and settles, with a provider that is free."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Self

from notifications.channel import Channel
from notifications.delivery.worker import Role, Worker, WorkerOptions
from notifications.providers.base import Capabilities, Message, Provider, ProviderSettings
from notifications.providers.chains import Chain
from notifications.retry import Backoff
from notifications.verdict import Verdict
from notifyq.bench import bare, rows
from notifyq.bench.plan import Plan, progress, tell_computing, tell_rates
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


@dataclass(frozen=True, slots=True)
class Drained:
    """One round: rows a second, and the seconds of computing that each took in this process. The latter says something
    of the worker where other programs compete for the cores, too; what the server computes is not in it."""

    rate: float
    computing: float


def a_noop_provider() -> Provider:
    """One that drops repeats, as the larger vendors do, so that no start of a send is put on record."""
    return NoopProvider("noop", Capabilities(dedupe_window_seconds=86_400.0))


def run(plan: Plan) -> None:
    """Alternates between the bare loop and the worker, so that neither has the quieter half of the time."""
    ours: list[Drained] = []
    limit: list[Drained] = []
    rows.clear()
    rows.prepare(plan.count)
    for number in range(1, plan.rounds + 1):
        progress(f"deliver: round {number} of {plan.rounds}")
        limit.append(_bare(plan))
        ours.append(_worker(plan))
    tell_rates("deliver", [each.rate for each in ours], [each.rate for each in limit])
    tell_computing("deliver", [each.computing for each in ours], [each.computing for each in limit])


def _bare(plan: Plan) -> Drained:
    rows.renew()
    computing = time.process_time()
    with bare.connected() as raw:
        count, seconds = bare.drain(raw, plan.batch_size, plan.seconds)
    return Drained(count / seconds, (time.process_time() - computing) / count)


def _worker(plan: Plan) -> Drained:
    rows.renew()
    provider = a_noop_provider()
    worker = Worker("bench", _options(plan), {channel: Chain((provider,)) for channel in Channel})
    bound = threading.Timer(plan.seconds, worker.stop)
    bound.start()
    began, computing = time.perf_counter(), time.process_time()
    worker.run()
    seconds, computing = time.perf_counter() - began, time.process_time() - computing
    bound.cancel()
    count = rows.sent_count()
    return Drained(count / seconds, computing / count)


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
