"""The order of the tests: what takes long and mostly waits goes first, so that no core waits for it at the end."""

from __future__ import annotations

import pytest

LONG = ("tests/concurrency/", "tests/integration/test_plans.py", "tests/integration/test_bench.py")
"""Beside those that start processes."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves the random order as it is within each of the three parts; the same in every process of pytest-xdist."""
    items.sort(key=_part)


def _part(item: pytest.Item) -> int:
    if item.get_closest_marker("processes"):
        return 0
    return 1 if item.nodeid.startswith(LONG) else 2
