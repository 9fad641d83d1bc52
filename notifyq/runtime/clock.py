"""Elapsed time. The time of day is PostgreSQL's alone."""

from __future__ import annotations

import time

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def elapsed() -> float:
    """Seconds on a clock that never goes back and, where the system has one, goes on while the machine is suspended:
    a lease runs out during a suspension too."""
    return time.clock_gettime(_BOOT_CLOCK)
