"""Reads a vendor's wish to be left alone for a while. Pure, no clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 3600.0
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse_retry_after(
    value: str | None, *, answered_at: str | None, now: datetime, most_seconds: float = MAX_SECONDS
) -> float | None:
    """How many seconds to wait at least.

    Args:
        value: the Retry-After header: seconds, or an HTTP-date.
        answered_at: the Date header of the same answer: an HTTP-date is counted from it where it can be read, so
            that a difference between the vendor's clock and ours does not matter.
        now: aware; what an HTTP-date is counted from otherwise.
        most_seconds: no wish for longer is heard.

    Returns:
        0 to `most_seconds`, or None where there is no such wish or it cannot be understood.

    Source: RFC 9110 section 10.2.3.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), most_seconds)
    wished = _http_date(text)
    if wished is None:
        return None
    waited = (wished - (_http_date(answered_at or "") or now)).total_seconds()
    return min(max(waited, 0.0), most_seconds)


def parse_reset(
    value: str | None, *, answered_at: str | None, now: datetime, most_seconds: float = MAX_SECONDS
) -> float | None:
    """The same for a header that names the instant, in seconds since 1970, at which a limit is open again.

    A value of less than a year cannot be an instant; some vendors write seconds into a header of this name.
    """
    text = (value or "").strip()
    if not _SECONDS.fullmatch(text):
        return None
    instant = float(text)
    if instant > 31_536_000:
        instant -= (_http_date(answered_at or "") or now).timestamp()
    return min(max(instant, 0.0), most_seconds)


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
