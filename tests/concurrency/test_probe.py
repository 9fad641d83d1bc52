"""Two workers and the probe of an open breaker."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial

import pytest
from django.db.models.functions import Now

from notifications import queue, services
from notifications.breaker import BreakerRule, BreakerState, Calls, Sign
from notifications.channel import Channel
from notifications.errors import ActedMeanwhile
from notifications.models import ControlAct, ProviderHealth
from tests.support.rivals import run_together

pytestmark = pytest.mark.django_db(transaction=True)
KEY = (Channel.EMAIL, "a")
RULE = BreakerRule(failures=1, cooldown_seconds=60.0)


def be_over(instant: str) -> None:
    ProviderHealth.objects.update(**{instant: Now() - timedelta(seconds=1)})


@pytest.fixture
def open_breaker() -> None:
    queue.record_calls(KEY, Calls(0, failures=1, error_code="connect_failed"), RULE)


def test_probe__four_workers_ask_at_once__one_gets_it(open_breaker: None) -> None:
    be_over("probe_due_at")

    tokens = run_together([lambda: queue.begin_probe(KEY, 15.0)] * 4)

    [token] = [token for token in tokens if token]
    row = ProviderHealth.objects.get()
    assert (row.state, row.probe_token) == (BreakerState.HALF_OPEN, token)


def test_probe__before_the_cooldown_is_over__nobody_gets_it(open_breaker: None) -> None:
    assert queue.begin_probe(KEY, 15.0) is None
    assert queue.begin_probe((Channel.SMS, "never seen"), 15.0) is None


def test_probe__whose_worker_died__is_free_after_its_lease_and_its_late_end_changes_nothing(open_breaker: None) -> None:
    be_over("probe_due_at")
    lost = queue.begin_probe(KEY, 15.0)
    assert lost is not None
    assert queue.begin_probe(KEY, 15.0) is None
    be_over("probe_until")

    second = queue.begin_probe(KEY, 15.0)

    assert second is not None
    queue.end_probe(KEY, lost, Sign.ALIVE, RULE)
    assert ProviderHealth.objects.get().probe_token == second
    queue.end_probe(KEY, second, Sign.ALIVE, RULE)
    assert ProviderHealth.objects.get().state == BreakerState.CLOSED


def test_calls__of_two_workers_at_once__are_all_counted_and_the_first_row_is_made_once() -> None:
    patient = BreakerRule(failures=8, cooldown_seconds=60.0)
    run_together([lambda: queue.record_calls(KEY, Calls(0, failures=1), patient)] * 4)
    assert ProviderHealth.objects.get().failures == 4

    run_together([lambda: queue.record_calls(KEY, Calls(0, failures=4), patient)] * 2)
    row = ProviderHealth.objects.get()
    assert (row.state, row.trips) == (BreakerState.OPEN, 1)


def test_rate__leased_by_four_workers_at_once__is_given_out_once() -> None:
    began = time.monotonic()
    counts = run_together([lambda: queue.lease_calls("a", 20.0)] * 4)
    assert 5 <= sum(counts) <= 5 + 20.0 * (time.monotonic() - began)


def test_acts__of_four_who_looked_at_the_same__have_one_effect(open_breaker: None) -> None:
    def act(by: str) -> bool:
        try:
            with services.breaker_as_seen("EMAIL", "a", 0):
                services.reset_breaker("EMAIL", "a", by=by)
        except ActedMeanwhile:
            return False
        return True

    done = run_together([partial(act, by) for by in ("ada", "bob", "cyd", "dan")])

    assert sum(done) == 1
    assert ControlAct.objects.count() == 1
