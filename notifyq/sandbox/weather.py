"""How the simulated vendor behaves as a whole: slow, flaky, throttling, down. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

MAX_DELAY_MS = 3_600_000
MAX_REQUESTS_PER_SECOND = 1_000_000
_RATES = ("temporaryRate", "permanentRate", "unconfirmedRate")


class WeatherError(ValueError):
    """The weather asked for is not possible. `errors` maps each field to what is wrong with it."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name} {problem}" for name, problem in self.errors.items()))


@dataclass(frozen=True, slots=True)
class Weather:
    """Field names are those of the JSON document, so that there is one spelling of each.

    Attributes:
        latencyMs: every answer is held back this long; what is accepted is stored before.
        jitterMs: up to this much more, drawn anew for each answer.
        temporaryRate: share of new messages refused with 503 `not_accepted`.
        permanentRate: share of new messages refused for good with 422.
        unconfirmedRate: share of new messages stored and then left without an answer.
        rateLimitPerSecond: requests beyond this many in any second get a 429; 0 means no limit.
        idempotency: whether a repeated key is recognised.
        lookup: whether a message can be looked up by its key.
        down: every request is refused with 503 `not_accepted`.
    """

    latencyMs: float = 0  # noqa: N815
    jitterMs: float = 0  # noqa: N815
    temporaryRate: float = 0  # noqa: N815
    permanentRate: float = 0  # noqa: N815
    unconfirmedRate: float = 0  # noqa: N815
    rateLimitPerSecond: float = 0  # noqa: N815
    idempotency: bool = True
    lookup: bool = True
    down: bool = False

    @classmethod
    def parse(cls, document: object) -> Self:
        """Check a decoded JSON document; a field that is absent or null takes its default.

        Raises:
            WeatherError: not an object, an unknown field, a wrong value, or rates that sum to more than 1.
        """
        if not isinstance(document, dict):
            raise WeatherError({"": "the weather must be a JSON object"})
        errors = {name: "is not a known field" for name in document if name not in _CHECKS}
        values: dict[str, Any] = {}
        for name, check in _CHECKS.items():
            value = document.get(name)
            if value is None:
                continue
            if problem := check(value):
                errors[name] = problem
            values[name] = value
        if not errors and sum(values.get(name, 0) for name in _RATES) > 1 + 1e-9:
            errors = dict.fromkeys(_RATES, "must not sum to more than 1 with the other rates")
        if errors:
            raise WeatherError(errors)
        return cls(**values)

    def document(self) -> dict[str, Any]:
        """The JSON document, which `parse` takes back."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def delay_seconds(self, draw: float) -> float:
        """How long to hold an answer back, for a `draw` from [0, 1)."""
        return (self.latencyMs + self.jitterMs * draw) / 1000


def _flag(value: object) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _whole(value: object) -> str:
    return _between(MAX_REQUESTS_PER_SECOND)(value) or ("" if value == int(value) else "must be a whole number")  # type: ignore[call-overload]


def _between(most: float) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "must be a number"
        return "" if 0 <= value <= most else f"must be from 0 to {most}"  # also false for NaN

    return check


_CHECKS: dict[str, Callable[[object], str]] = {
    "latencyMs": _between(MAX_DELAY_MS),
    "jitterMs": _between(MAX_DELAY_MS),
    "temporaryRate": _between(1),
    "permanentRate": _between(1),
    "unconfirmedRate": _between(1),
    "rateLimitPerSecond": _whole,
    "idempotency": _flag,
    "lookup": _flag,
    "down": _flag,
}
