"""Which providers an attempt may use, above all one that may have been sent already."""

from dataclasses import dataclass

import pytest

from notifications.channel import OnUnconfirmed
from notifications.delivery.routing import route
from notifications.outcome import Standing
from notifications.providers.base import Capabilities

HOUR = 3600.0


@dataclass
class Account:
    name: str
    window: float | None

    @property
    def capabilities(self):
        return Capabilities(dedupe_window_seconds=self.window)


class TwoProviders:
    """A chain of a provider that never drops repeats and one that does for an hour."""

    providers = (Account("plain", None), Account("dedupes", HOUR))

    def named(self, name):
        return next((p for p in self.providers if p.name == name), None)


def routed(provider, *, hold=True, number=1, suspect=False, age=10.0, cycle=1):
    wish = OnUnconfirmed.HOLD if hold else OnUnconfirmed.RETRY
    standing = Standing(number, 6, wish, unconfirmed_provider=provider, suspect=suspect)
    return [p.name for p in route(TwoProviders(), standing, age, cycle=cycle).providers]


BOTH = ["plain", "dedupes"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"provider": ""}, BOTH),
        ({"provider": "dedupes"}, ["dedupes"]),
        ({"provider": "dedupes", "age": 2 * HOUR}, []),
        ({"provider": "plain"}, []),
        ({"provider": "gone"}, []),
        ({"provider": "plain", "hold": False}, ["plain"]),
        ({"provider": "gone", "hold": False}, BOTH),
    ],
)
def test_route__in_the_first_cycle__never_risks_a_second_copy_that_was_not_asked_for(wanted, expected):
    assert routed(**wanted) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"provider": "plain"}, ["plain"]),
        ({"provider": "plain", "number": 3}, ["plain"]),
        ({"provider": "plain", "suspect": True}, ["plain"]),
        ({"provider": "dedupes", "age": 2 * HOUR}, ["dedupes"]),
        ({"provider": "gone"}, BOTH),
        # What may have been sent is perhaps of this cycle: then a person has to decide again.
        ({"provider": "dedupes", "age": 2 * HOUR, "number": 2}, []),
        ({"provider": "dedupes", "age": 2 * HOUR, "suspect": True}, []),
        ({"provider": "gone", "number": 2}, []),
    ],
)
def test_route__after_an_operators_retry__sends_what_was_held(wanted, expected):
    assert routed(**wanted, cycle=2) == expected
