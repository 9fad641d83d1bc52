"""How the seats are shared out among the endpoints that have something due. Pure.

An endpoint gets few seats of many, so that one that hangs holds up no other; those that are known to be failing or
slow get one each, and never more than half of the seats together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

MOST_EACH = 4
MOST_TROUBLED_EACH = 1
TROUBLED_PART = 2
RESERVE_PART = 4
"""The last quarter of the seats is for endpoints that use none: there is always one for a newcomer."""


@dataclass(frozen=True, slots=True)
class Demand:
    """An endpoint with something due.

    Attributes:
        troubled: it is known to be failing or slow.
        overdue_seconds: of its first event.
    """

    endpoint_id: UUID
    troubled: bool
    overdue_seconds: float


def allot(
    demands: Sequence[Demand], taken: Mapping[UUID, int], troubled: Collection[UUID], seat_count: int
) -> dict[UUID, int]:
    """Which endpoints get how many of the free seats.

    Round by round, one seat each: those that use the fewest first, then the longest due.

    Args:
        taken: seats in use, by endpoint.
        troubled: of those that use seats, the failing and slow ones.

    Returns:
        endpoint id → further seats, at least 1; together no more than are free.
    """
    held = dict(taken)
    free = seat_count - sum(held.values())
    left_for_troubled = seat_count // TROUBLED_PART - sum(n for key, n in held.items() if key in troubled)
    shares: dict[UUID, int] = {}
    for _ in range(MOST_EACH):
        for demand in sorted(demands, key=lambda d: (held.get(d.endpoint_id, 0), -d.overdue_seconds)):
            mine = held.get(demand.endpoint_id, 0)
            if free <= (seat_count // RESERVE_PART if mine else 0):
                continue
            if demand.troubled and (mine >= MOST_TROUBLED_EACH or left_for_troubled <= 0):
                continue
            if mine >= MOST_EACH:
                continue
            held[demand.endpoint_id] = mine + 1
            shares[demand.endpoint_id] = shares.get(demand.endpoint_id, 0) + 1
            free -= 1
            left_for_troubled -= demand.troubled
    return shares
