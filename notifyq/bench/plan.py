"""What to measure, and how the figures are told."""

from __future__ import annotations

import math
import statistics
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass

from notifyq.runtime.numerals import between

MEASURES = ("deliver", "claim", "wakeup", "breakers")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure.

    Attributes:
        measure: one of `MEASURES`.
        count: notifications in each round.
        rounds: how often; the median is told.
        batch_size: most rows of one claim.
        concurrency: delivery threads.
        seconds: bound on each part of a round; a slower machine is measured on fewer rows.
    """

    measure: str
    count: int
    rounds: int
    batch_size: int
    concurrency: int
    seconds: float

    def arguments(self) -> list[str]:
        """The command line that makes this plan."""
        options = {"count": self.count, "rounds": self.rounds, "batch-size": self.batch_size}
        options |= {"concurrency": self.concurrency, "seconds": int(self.seconds)}
        return [self.measure, *(f"--{name}={value}" for name, value in options.items())]


def add_arguments(parser: ArgumentParser) -> None:
    """The options of a plan."""
    parser.add_argument("measure", choices=MEASURES, help="what to measure")
    parser.add_argument("--count", type=between(10, 200_000), default=10_000, metavar="N", help="rows a round (10000)")
    parser.add_argument("--rounds", type=between(1, 50), default=3, metavar="N", help="the median is told (3)")
    parser.add_argument("--batch-size", type=between(1, 1_000), default=250, metavar="N", help="rows a claim (250)")
    parser.add_argument("--concurrency", type=between(1, 200), default=8, metavar="N", help="delivery threads (8)")
    parser.add_argument("--seconds", type=between(1, 600), default=30, metavar="N", help="bound on each part (30)")


def tell(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def progress(text: str) -> None:
    """What is going on, for a person; not part of the result."""
    sys.stderr.write(f"{text} …\n")
    sys.stderr.flush()


def tell_rates(name: str, ours: Sequence[float], bare: Sequence[float]) -> None:
    """Two rates per second, each the median of its rounds, and their ratio."""
    mine, limit = statistics.median(ours), statistics.median(bare)
    tell(f"{name}: {mine:,.0f}/s; bare loop {limit:,.0f}/s; ratio {mine / limit:.2f}")


def tell_computing(name: str, ours: Sequence[float], bare: Sequence[float]) -> None:
    """What one row costs the process, in seconds, each the median of its rounds."""
    mine, limit = statistics.median(ours), statistics.median(bare)
    tell(f"{name}: {mine * 1e6:.0f} µs of the process's computing a row; bare loop {limit * 1e6:.0f} µs")


def tell_times(name: str, ours: Sequence[float], bare: Sequence[float]) -> None:
    """Two sets of times in seconds, by their median and their 99th percentile."""
    mine, limit = statistics.median(ours), statistics.median(bare)
    tell(
        f"{name}: p50 {mine * 1e3:.2f} ms, p99 {percentile(ours, 99) * 1e3:.2f} ms; "
        f"bare p50 {limit * 1e3:.2f} ms, p99 {percentile(bare, 99) * 1e3:.2f} ms; ratio of p50 {mine / limit:.2f}"
    )


def tell_share(name: str, shares: Sequence[float], of_what: str) -> None:
    """What something adds to the whole, from many comparisons: the median and how sure it is."""
    low, middle, high = median_interval(shares)
    tell(f"{name}: {middle:.2%} of {of_what} (95 % interval {low:.2%} to {high:.2%}, {len(shares)} comparisons)")


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median between the bounds of its 95 % interval, which assumes nothing of how the values are spread: a few
    that were measured while something else had the core move none of the three.

    Source: the order statistics whose ranks are n/2 ± 1.96·√n/2 (binomial, normal approximation).
    """
    ordered, reach = sorted(values), 0.98 * math.sqrt(len(values))
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return ordered[low], statistics.median(ordered), ordered[high]


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
