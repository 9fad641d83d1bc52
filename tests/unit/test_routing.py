"""Which providers an attempt may use."""

from __future__ import annotations

from typing import Self

import pytest

from notifications.channel import Channel, OnUnconfirmed
from notifications.delivery.routing import Route, may_send_again, route
from notifications.outcome import Standing
from notifications.providers.base import Capabilities, FoundBy, Lookup, Message, Provider, ProviderSettings
from notifications.providers.chains import Chain
from notifications.verdict import Verdict

RETRY, HOLD = OnUnconfirmed.RETRY, OnUnconfirmed.HOLD


class _Vendor(Provider):
    kind = "vendor"
    channels = frozenset(Channel)

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        raise NotImplementedError

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        raise NotImplementedError


KEYED = _Vendor("keyed", Capabilities(dedupe_window_seconds=60.0))
PLAIN = _Vendor("plain", Capabilities())
ASKABLE = _Vendor("askable", Capabilities(60.0, lookup=Lookup(FoundBy.KEY, settle_seconds=2.0, horizon_seconds=600.0)))
CHAIN = Chain((KEYED, PLAIN))


def test_route__nothing_open__is_the_whole_chain_in_order() -> None:
    assert route(CHAIN, Standing(1, 6, HOLD), None).providers == (KEYED, PLAIN)


@pytest.mark.parametrize(
    ("open_at", "wish", "age_seconds", "expected"),
    [
        ("keyed", HOLD, 59.0, (KEYED,)),  # it drops the repeat
        ("keyed", RETRY, 59.0, (KEYED,)),
        ("keyed", HOLD, 60.0, ()),  # its window is over
        ("keyed", RETRY, 60.0, (KEYED,)),  # perhaps twice is what the client wants, but from nobody else
        ("plain", HOLD, 0.0, ()),
        ("plain", RETRY, 0.0, (PLAIN,)),
        ("gone", HOLD, 0.0, ()),  # no longer in the chain
        ("gone", RETRY, 0.0, (KEYED, PLAIN)),
    ],
)
def test_route__an_attempt_is_open__stays_with_its_provider_or_is_held(
    open_at: str, wish: OnUnconfirmed, age_seconds: float, expected: tuple[Provider, ...]
) -> None:
    assert route(CHAIN, Standing(2, 6, wish, unconfirmed_provider=open_at), age_seconds).providers == expected


@pytest.mark.parametrize("wish", [RETRY, HOLD])
@pytest.mark.parametrize(
    ("age_seconds", "cycle", "expected"),
    [
        (59.0, 1, Route((ASKABLE,))),  # the repeat is dropped
        (60.0, 1, Route((), 2.0)),
        (60.0, 2, Route((ASKABLE,))),  # an operator has decided for another send
    ],
)
def test_route__its_provider_can_be_asked__is_asked_rather_than_sent_to_again_or_held(
    age_seconds: float, cycle: int, expected: Route, wish: OnUnconfirmed
) -> None:
    standing = Standing(1, 6, wish, unconfirmed_provider="askable")
    assert route(Chain((PLAIN, ASKABLE)), standing, age_seconds, cycle=cycle) == expected


def test_route__its_provider_knows_no_more__is_as_if_it_could_not_be_asked() -> None:
    standings = [Standing(2, 6, wish, unconfirmed_provider="askable") for wish in (RETRY, HOLD)]
    assert [route(Chain((ASKABLE,)), standing, 600.0) for standing in standings] == [Route((ASKABLE,)), Route(())]


def test_may_send_again__only_within_the_window_of_a_provider_that_has_one() -> None:
    assert may_send_again(KEYED, None)
    assert may_send_again(KEYED, 59.9)
    assert not may_send_again(KEYED, 60.0)
    assert not may_send_again(PLAIN, None)


def test_records_start__unless_a_single_provider_drops_repeats() -> None:
    assert not Chain((KEYED,)).records_start(KEYED)
    assert Chain((PLAIN,)).records_start(PLAIN)
    assert CHAIN.records_start(KEYED)
