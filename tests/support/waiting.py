"""Waiting for a condition instead of sleeping."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

LOOK_EVERY_SECONDS = 0.02


def wait_until(condition: Callable[[], Value], seconds: float, what: str) -> Value:
    """Look again and again until `condition` is true; returns what it gave.

    Raises:
        AssertionError: it was not in time; the text says what was waited for.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(LOOK_EVERY_SECONDS)
    return value
