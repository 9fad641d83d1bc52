"""How a row stands, as the rules of `notifications.outcome` want to know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from notifications.channel import OnUnconfirmed
from notifications.outcome import Standing

STANDING_COLUMNS = (
    "attempt_count",
    "max_attempts",
    "operator_retry_count",
    "on_unconfirmed",
    "unconfirmed_provider",
    "final_check",
    "suspect",
)


def standing_of(row: Mapping[str, Any], attempt_number: int) -> Standing:
    """From a row's `STANDING_COLUMNS` by name, and the number of the attempt in hand."""
    return Standing(
        attempt_number=attempt_number,
        max_attempts=row["max_attempts"],
        on_unconfirmed=OnUnconfirmed(row["on_unconfirmed"]),
        unconfirmed_provider=row["unconfirmed_provider"],
        final_check=row["final_check"],
        suspect=row["suspect"],
    )
