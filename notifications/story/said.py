"""Sentences that hold instants and durations: whoever shows one decides on the zone and the units. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

Said = tuple[str | datetime | timedelta, ...]
"""The parts of one sentence, to be shown one after the other."""
