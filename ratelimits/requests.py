"""How many requests a key may make: shared by all API processes, decided by the database.

GCRA, the leaky bucket as a meter: each request fills it by one share of a minute, it drains with time, and a request
that would make it overflow is refused and fills nothing. So a key may use its whole minute at once and then goes on at
the even rate. One row per key, one UPSERT per request; a refusal costs one more read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

PERIOD_SECONDS = 60.0

# Primary key; locks the key's row for the statement. No row comes back when the meter would overflow.
_FILL = """
INSERT INTO ratelimits_requestmeter AS m (key_id, empty_at)
VALUES (%(key)s, statement_timestamp() + %(share)s * interval '1 second')
ON CONFLICT (key_id) DO UPDATE
   SET empty_at = GREATEST(m.empty_at, statement_timestamp()) + %(share)s * interval '1 second'
 WHERE GREATEST(m.empty_at, statement_timestamp()) + %(share)s * interval '1 second'
       <= statement_timestamp() + %(period)s * interval '1 second'
RETURNING EXTRACT(EPOCH FROM m.empty_at - statement_timestamp())::float8
"""
_LOOK = """
SELECT EXTRACT(EPOCH FROM empty_at - statement_timestamp())::float8 FROM ratelimits_requestmeter WHERE key_id = %(key)s
"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a key has left.

    Attributes:
        limit: requests per minute.
        full_seconds: until the meter is empty if no request comes.
        allowed: whether this request may go on.
    """

    limit: int
    full_seconds: float
    allowed: bool

    @property
    def remaining(self) -> int:
        """Requests that would be allowed right now."""
        # A millionth of a request less than a whole one is rounding.
        return max(0, int((PERIOD_SECONDS - self.full_seconds) / PERIOD_SECONDS * self.limit + 1e-6))

    @property
    def retry_after_seconds(self) -> int:
        """Whole seconds after which one more is allowed; at least 1."""
        return max(1, math.ceil(self.full_seconds + PERIOD_SECONDS / self.limit - PERIOD_SECONDS))

    def headers(self) -> dict[str, str]:
        """For every answer: `RateLimit-*`, and `Retry-After` with a refusal. Seconds are whole ones, rounded up."""
        shown = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(max(0, math.ceil(self.full_seconds))),
        }
        return shown if self.allowed else shown | {"Retry-After": str(self.retry_after_seconds)}


def count_request(key_id: UUID, per_minute: int) -> Allowance:
    """Count one request of the key, if it is allowed.

    Transaction: the caller's, or autocommit; the key's row is locked until it ends.
    """
    values: dict[str, Any] = {"key": key_id, "share": PERIOD_SECONDS / per_minute, "period": PERIOD_SECONDS + 1e-6}
    with connection.cursor() as cursor:
        cursor.execute(_FILL, values)
        filled = cursor.fetchone()
        if filled is None:
            cursor.execute(_LOOK, values)
            return Allowance(per_minute, cursor.fetchone()[0], allowed=False)
        return Allowance(per_minute, filled[0], allowed=True)
