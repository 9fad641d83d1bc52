"""Fixtures for what the product keeps for a while: no test is to meet what another one had it keep."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from notifyq.leasing.fixed import forget_made


@pytest.fixture(autouse=True)
def fixed_anew(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test may replace a constant, no query keeps the one of the test before, nor of this test for the next."""
    if "monkeypatch" not in request.fixturenames:
        yield
        return
    forget_made()
    yield
    forget_made()


@pytest.fixture(autouse=True)
def looked_anew() -> None:
    """Metrics, overview and health keep what they found for some seconds, also of rows that have been rolled back."""
    from notifyq import health, metrics_view
    from notifyq.overview import figures

    for keeper in (health._looker, metrics_view._queue, figures._collector):
        keeper.forget()
