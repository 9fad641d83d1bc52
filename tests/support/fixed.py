"""A fixture for tests that change what a query is made of."""

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
