"""How fast the providers may be called: their own rates, and the times until which they asked to be left alone.

A rate is kept as one instant: up to there its calls are given away. It moves on by 1/rate for each call, and lags
behind the present by no more than a small reserve, so that what was not used is not saved up.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.db.models.functions import Greatest, Now

from notifications.models import ProviderPace
from notifications.retry import RETRY_AFTER_MOST_SECONDS
from notifyq.leasing import Fixed, SecondsSince

LEASE_SECONDS = 0.25
"""A process takes so much of a rate at a time, one call at least; and no more than that is ever saved up."""

# The row is there. Nothing is written while nothing is free.
_LEASE = """
WITH free AS (
    SELECT provider, least(%(most)s, floor(%(rate)s * extract(epoch FROM clock_timestamp() - since) + 1e-6))::int AS n,
           since
      FROM (SELECT provider, greatest(coalesce(spent_until, '-infinity'),
                                      clock_timestamp() - make_interval(secs => %(saved)s)) AS since
              FROM notifications_providerpace WHERE provider = %(provider)s FOR NO KEY UPDATE) AS locked
)
UPDATE notifications_providerpace AS p
   SET spent_until = free.since + make_interval(secs => free.n / %(rate)s)
  FROM free WHERE p.provider = free.provider AND free.n > 0
RETURNING free.n
"""


_RESTING = Fixed(
    lambda: ProviderPace.objects.exclude(throttled_until=None).values_list("pk", -SecondsSince("throttled_until"))
)


@dataclass(frozen=True, slots=True)
class PaceSeen:
    """Attributes: throttled_seconds: for so long from the reading the provider must not be called; 0 for not at all."""

    throttled_seconds: float


def call_batch(rate_per_second: float) -> float:
    """How many calls are leased at a time, and saved up at the most."""
    return max(1.0, rate_per_second * LEASE_SECONDS)


def lease_calls(provider: str, rate_per_second: float) -> int:
    """Take the right to a small batch of calls. Returns how many: all together, workers get no more than the rate, and
    one batch at once after a rest. What is not used soon is lost.

    Transaction: autocommit, one statement. Locks: the provider's row.
    """
    batch = call_batch(rate_per_second)
    values: dict[str, str | float] = {
        "provider": provider,
        "rate": rate_per_second,
        "most": int(batch),
        "saved": batch / rate_per_second,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LEASE, values)
        found = cursor.fetchone()
        if found is None and not ProviderPace.objects.filter(pk=provider).exists():
            ProviderPace.objects.bulk_create([ProviderPace(provider=provider)], ignore_conflicts=True)
            cursor.execute(_LEASE, values)
            found = cursor.fetchone()
    return found[0] if found else 0


def throttle(provider: str, seconds: float) -> None:
    """Leave the provider alone for so long, an hour at the most; never shortens what was asked for before.

    Transaction: the caller's, or autocommit. Safe to repeat.
    """
    until = Now() + timedelta(seconds=min(seconds, RETRY_AFTER_MOST_SECONDS))
    ProviderPace.objects.bulk_create([ProviderPace(provider=provider)], ignore_conflicts=True)
    ProviderPace.objects.filter(pk=provider).update(throttled_until=Greatest("throttled_until", until))


def end_rest(provider: str) -> bool:
    """Call a provider again that asked not to be called yet. Returns whether it did. Safe to repeat.

    Transaction: the caller's, or autocommit.
    """
    return bool(ProviderPace.objects.filter(pk=provider, throttled_until__gt=Now()).update(throttled_until=None))


def read_paces() -> dict[str, PaceSeen]:
    """By provider; whatever is missing may be called. One query on a table of a handful of rows."""
    return {provider: PaceSeen(max(0.0, left)) for provider, left in _RESTING.rows()}
