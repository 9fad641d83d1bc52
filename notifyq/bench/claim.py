"""How long one claim takes, its commit included, while as many rows again are not due yet."""

from __future__ import annotations

import time
from datetime import timedelta

from notifications import queue
from notifyq.bench import bare, rows
from notifyq.bench.plan import Plan, progress, tell_times


def run(plan: Plan) -> None:
    """Claims all due rows, a batch at a time."""
    ours: list[float] = []
    limit: list[float] = []
    rows.clear()
    rows.prepare(plan.count, ahead=timedelta(days=1))
    rows.prepare(plan.count)
    for number in range(1, plan.rounds + 1):
        progress(f"claim: round {number} of {plan.rounds}")
        limit += _bare(plan)
        ours += _queue(plan)
    tell_times(f"claim of {plan.batch_size}", ours, limit)


def _bare(plan: Plan) -> list[float]:
    rows.renew()
    times = []
    with bare.connected() as raw:
        for _ in range(plan.count // plan.batch_size):
            began = time.perf_counter()
            bare.claim(raw, plan.batch_size, payload=True)
            times.append(time.perf_counter() - began)
            if sum(times) > plan.seconds:
                break
    return times


def _queue(plan: Plan) -> list[float]:
    rows.renew()
    times = []
    for _ in range(plan.count // plan.batch_size):
        began = time.perf_counter()
        queue.claim(rows.CLAIMER, plan.batch_size)
        times.append(time.perf_counter() - began)
        if sum(times) > plan.seconds:
            break
    return times
