"""Bar charts as figures for an SVG: no script and no outside resource draws them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

WIDTH, HEIGHT = 960.0, 120.0


@dataclass(frozen=True, slots=True)
class Span:
    """How far back a chart goes, and how wide its bars are, which `step_title` says."""

    name: str
    title: str
    step: timedelta
    step_title: str
    bars: int
    shows_days: bool = False

    def marks(self, since: datetime) -> tuple[datetime, datetime]:
        """The instants that the axis names: where the first bar begins, and the middle. The last bar is of the step
        that is not over yet, so there the axis says `now`."""
        return since, since + self.step * self.bars / 2

    def since(self, now: datetime) -> datetime:
        """The beginning of the first bar: bars begin at whole steps, so that they stay where they are while time
        goes on."""
        seconds = self.step.total_seconds()
        end = (now.timestamp() // seconds + 1) * seconds
        return datetime.fromtimestamp(end - seconds * self.bars, now.tzinfo)


SPANS = {
    span.name: span
    for span in (
        Span("hour", "last hour", timedelta(minutes=1), "minute", 60),
        Span("day", "last day", timedelta(minutes=15), "15 minutes", 96),
        Span("week", "last week", timedelta(hours=2), "2 hours", 84, shows_days=True),
    )
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; lengths are in units of the chart's view box.

    Attributes:
        per_minute: what it stands for, for the tooltip.
    """

    x: float
    y: float
    width: float
    height: float
    at: datetime
    count: int
    per_minute: float


@dataclass(frozen=True, slots=True)
class Chart:
    """One series over time.

    Attributes:
        top_count: what a bar of full height stands for.
    """

    bars: Sequence[Bar]
    total: int
    top_count: int


def chart(span: Span, since: datetime, counts: Iterable[tuple[datetime, int]]) -> Chart:
    """Args: counts: (beginning of a step, how many in it); steps left out have none."""
    by_step: dict[int, int] = {}
    for at, count in counts:
        step = int((at - since) / span.step)
        by_step[step] = by_step.get(step, 0) + count
    most = max(by_step.values(), default=0)
    width = WIDTH / span.bars
    minutes = span.step.total_seconds() / 60
    bars = [
        _bar(step, count, most, width, since + span.step * step, count / minutes)
        for step, count in sorted(by_step.items())
        if 0 <= step < span.bars and count
    ]
    return Chart(bars, sum(bar.count for bar in bars), most)


def _bar(step: int, count: int, most: int, width: float, at: datetime, per_minute: float) -> Bar:
    height = max(2.0, HEIGHT * count / most)  # one of a thousand is still seen
    return Bar(
        round(step * width + 0.5, 2),
        round(HEIGHT - height, 2),
        round(width - 1, 2),
        round(height, 2),
        at,
        count,
        per_minute,
    )
