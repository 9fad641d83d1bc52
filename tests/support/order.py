"""The order of the tests and how many run at once: what mostly waits goes first, beside what computes."""

from __future__ import annotations

import os

import pytest

LONG_GROUPS = ("browser", "up", "embedded")
"""The longest first."""

LONG = ("tests/concurrency/", "tests/integration/test_plans.py")
"""Beside those that start processes."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves the random order as it is within each part; the same in every process of pytest-xdist."""
    items.sort(key=_part)


def _part(item: pytest.Item) -> int:
    """Tests of a group come one after the other in one process: begun late, the others would wait for that one."""
    group = item.get_closest_marker("xdist_group")
    if group and group.args[0] in LONG_GROUPS:
        return LONG_GROUPS.index(group.args[0])
    if item.get_closest_marker("processes"):
        return len(LONG_GROUPS)
    return len(LONG_GROUPS) + (1 if item.nodeid.startswith(LONG) else 2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One process more than there are cores, for `-n auto`: the tests of real processes wait more than they compute."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None
