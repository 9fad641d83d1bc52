"""The measurement of the breakers' price: it has to see one that is too high."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from notifications.channel import Channel
from notifications.delivery.health import NO_SETTINGS, Health
from notifications.delivery.held import Finished, Held
from notifications.delivery.line import Ticket
from notifications.providers.base import Provider
from notifications.queue import Terms
from notifyq.bench import breakers
from notifyq.bench.breakers import Bench, Compared
from tests.support.held import held

DEAR_SECONDS = 0.0002


class _Dear(Health):
    """Takes its time before each call."""

    def admit(self, channel: Channel, provider: Provider, sender: Mapping[str, str] = NO_SETTINGS) -> Ticket | None:
        until = time.process_time() + DEAR_SECONDS
        while time.process_time() < until:
            pass
        return super().admit(channel, provider, sender)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Finished]:
    """What was settled; nothing else of the bench needs a database here."""
    written: list[Finished] = []

    def write(batch: Sequence[Finished], worker_id: str) -> None:
        written.extend(batch)

    monkeypatch.setattr(breakers, "write", write)
    monkeypatch.setattr(Health, "refresh", lambda health: None)
    return written


def _compare(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Compared]:
    def claim(terms: Terms) -> list[Held]:
        return [held() for _ in range(20)]

    monkeypatch.setattr(bench, "_claim", claim)
    return next(bench.drain(5))


def test_compare__a_health_that_takes_its_time__tells_so(
    written: list[Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(20)
    bench._with = replace(bench._with, health=_Dear())
    compared = _compare(bench, monkeypatch)["computing"]
    assert compared.delivery_with - compared.delivery_without > DEAR_SECONDS / 2
    assert compared.share > 0.5
    assert len(written) == 20  # however often each was delivered


def test_compare__with_and_without__delivers_the_same(written: list[Finished], monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(20)
    for _ in range(2):  # the second has the opposite order, so that the other one is settled
        _compare(bench, monkeypatch)
    assert {f.decision.status for f in written} == {"SENT"}
    assert {hop.provider for f in written for hop in f.hops} == {"noop"}
    assert len(written) == 40
