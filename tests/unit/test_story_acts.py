"""What may be done to a notification as it stands, and why not."""

from __future__ import annotations

from itertools import product

import pytest

from notifications.outcome import UNCONFIRMED
from notifications.status import Status
from notifications.story.acts import Deed, hindrance, legal, possible

STATES = list(product(Status, ("", "sandbox"), ("", "timeout", UNCONFIRMED)))


def why_not(deed: Deed, status: str, provider: str = "", code: str = "", *, is_over: bool = False) -> str:
    return hindrance(deed, status, unconfirmed_provider=provider, error_code=code, is_over=is_over)


@pytest.mark.parametrize("deed", list(Deed))
def test_hindrance__in_every_state__there_is_one_exactly_where_it_is_not_legal(deed: Deed) -> None:
    free = {state for state in STATES if not why_not(deed, *state)}

    assert free == {
        state for state in STATES if deed in legal(state[0], unconfirmed_provider=state[1], error_code=state[2])
    }


def test_hindrance__time_to_live_is_over__is_one_for_what_would_wait_again() -> None:
    begins = {Deed.RETRY: Status.FAILED, Deed.RESCHEDULE: Status.PENDING, Deed.CANCEL: Status.PENDING}

    hindered = {deed for deed, status in begins.items() if why_not(deed, status, is_over=True)}

    assert hindered == {Deed.RETRY, Deed.RESCHEDULE}


@pytest.mark.parametrize("status", list(Status))
def test_possible__by_status__is_what_is_legal_for_any_that_has_it(status: Status) -> None:
    states = [state for state in STATES if state[0] == status]

    assert set(possible(status)) == {deed for deed in Deed for state in states if not why_not(deed, *state)}
