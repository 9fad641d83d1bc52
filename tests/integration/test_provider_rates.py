"""The rates of the providers' own, and their rests, under real claims."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now

from notifications import services
from notifications.delivery.terms import rated
from notifications.models import Notification, ProviderHealth
from notifications.status import Status, WaitingReason
from notifications.verdict import Verdict
from tests.integration.test_provider_health import ACCEPTED, EMAIL, REFUSED, Desk, Vendor, providers_of
from tests.support.factories import ago
from tests.support.rows import add

pytestmark = pytest.mark.django_db


def test_throttled__with_a_time__rests_for_all_workers_until_then_or_a_reset_and_keeps_the_order(chains: None) -> None:
    throttled = Verdict.temporary("http_429", throttled=True, retry_after_seconds=30.0)
    desk, other = Desk(Vendor("a", throttled)), Desk(Vendor("a", ACCEPTED))
    ids = add(4)

    finished = [desk.deliver(held) for held in desk.claim(3)]
    desk.refresh()
    other.refresh()

    assert [f.give_back for f in finished] == [False, True, True]
    assert set(Notification.objects.filter(pk__in=ids[1:]).values_list("attempt_count", "waiting_reason")) == {(0, "")}
    assert (desk.claim(), other.claim()) == ([], [])
    assert 25 < other.health.pace.throttled_seconds("a") <= 30
    assert not desk.health.is_open(EMAIL, "a")
    services.reset_breaker("EMAIL", "a", by="ada")
    other.refresh()
    assert [held.claimed.id for held in other.claim()] == ids[1:]


def test_throttled__the_first_of_a_chain__the_next_takes_all() -> None:
    throttled = Verdict.temporary("http_429", throttled=True, retry_after_seconds=30.0)
    desk = Desk(Vendor("a", throttled), Vendor("b", ACCEPTED))
    add(3)
    assert [providers_of(f) for f in desk.work()] == [["a", "b"], ["b"], ["b"]]


def test_rate__of_the_only_provider__no_more_are_claimed_than_may_be_sent_and_in_order() -> None:
    desk = Desk(Vendor("a", ACCEPTED), rates={"a": 8.0})
    ids = add(5)
    assert desk.claim() == []

    desk.health.pace.lease("a")
    held = desk.claim()

    assert [h.claimed.id for h in held] == ids[:2]  # a quarter of a second's
    assert [desk.deliver(h).decision.status for h in held] == [Status.SENT] * 2
    assert desk.claim() == []
    assert desk.health.pace.stock("a") == 0


def test_rate__of_a_provider_that_is_open__is_leased_for_its_probe() -> None:
    desk = Desk(Vendor("a", REFUSED), rates={"a": 8.0})
    desk.health.pace.lease("a")
    add(3)
    desk.work()
    assert rated(desk.chains, desk.health) == {}
    ProviderHealth.objects.update(probe_due_at=Now())
    desk.refresh()
    assert rated(desk.chains, desk.health) == {"a": [EMAIL]}


def test_rate__used_up__the_next_of_the_chain_takes_over_and_what_is_bound_waits() -> None:
    desk = Desk(Vendor("a", ACCEPTED), Vendor("b", ACCEPTED), rates={"a": 1.0})
    [bound] = add(unconfirmed_provider="a", unconfirmed_at=ago())
    add()
    assert [providers_of(f) for f in desk.work()] == [["b"]]
    row = Notification.objects.get(pk=bound)
    assert (row.status, row.waiting_reason, row.attempt_count) == (
        Status.PENDING,
        WaitingReason.PROVIDER_UNAVAILABLE,
        0,
    )
