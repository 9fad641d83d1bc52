"""When to send, and until when: what the request says, and what it comes to at a given instant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from notifications.errors import FieldError, shown_name
from notifications.request.fields import Fields, Invalid, storable
from notifyq.runtime.instants import utc

AHEAD_MAX_SECONDS = 366 * 86_400
TTL_MAX_SECONDS = 10 * AHEAD_MAX_SECONDS

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Timing:
    """The request's times as they were given; None when absent. Lengths are rounded to microseconds."""

    send_at: datetime | None = None
    delay: timedelta | None = None
    expires_at: datetime | None = None
    ttl: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the times come to at `now`: `send_at` is never before it."""

    now: datetime
    send_at: datetime
    expires_at: datetime | None


def parse_instant(value: object) -> datetime:
    """An RFC 3339 time with an offset (or an aware `datetime`), in UTC.

    Raises:
        Invalid: not such a time, or one outside the years 1 to 9999.
    """
    try:
        instant = value if isinstance(value, datetime) else _parse_text(storable(value))
        if instant.tzinfo is None:
            raise Invalid("no_offset", "must have an offset from UTC, such as Z or +02:00")
        return utc(instant)
    except (ValueError, OverflowError) as problem:
        if isinstance(problem, Invalid):
            raise
        raise Invalid("not_a_time", "must be a time that exists, from year 1 to 9999") from None


def read_timing(fields: Fields) -> Timing:
    """Read the four fields; each pair may hold one of its two."""
    timing = Timing(
        send_at=read_instant(fields, "send_at"),
        delay=_read_length(fields, "delay_seconds", most=AHEAD_MAX_SECONDS),
        expires_at=read_instant(fields, "expires_at"),
        ttl=_read_length(fields, "ttl_seconds", most=TTL_MAX_SECONDS, above_zero=True),
    )
    _refuse_both(fields, "send_at", "delay_seconds")
    _refuse_both(fields, "expires_at", "ttl_seconds")
    return timing


def resolve(timing: Timing, now: datetime) -> tuple[Schedule, list[FieldError]]:
    """What the times come to at `now`, and what is wrong with them because of what time it is."""
    errors: list[FieldError] = []
    send_at = now + timing.delay if timing.delay else max(now, timing.send_at or now)
    if send_at > now + timedelta(seconds=AHEAD_MAX_SECONDS):
        errors.append(FieldError("send_at", "too_far_ahead", "must be at most 366 days ahead"))
    expires_at = send_at + timing.ttl if timing.ttl is not None else timing.expires_at
    if expires_at is not None and expires_at <= send_at:
        errors += _expired_before_sent(timing)
    return Schedule(now, send_at, expires_at), errors


def _expired_before_sent(timing: Timing) -> list[FieldError]:
    """Names both fields when two were given that contradict each other."""
    errors = [FieldError("expires_at", "not_after_send_time", "must be after the send time")]
    other = "send_at" if timing.send_at else "delay_seconds" if timing.delay else None
    if other is not None:
        errors.append(FieldError(other, "not_before_expiry", "must be before the time of expiry"))
    return errors


def read_instant(fields: Fields, name: str) -> datetime | None:
    """The time in that field, in UTC; None when it is absent or wrong."""
    if not fields.given(name):
        return None
    try:
        return parse_instant(fields.raw(name))
    except Invalid as problem:
        fields.wrong(name, problem.code, problem.message)
        return None


def _read_length(fields: Fields, name: str, *, most: float, above_zero: bool = False) -> timedelta | None:
    seconds = fields.number(name, least=0, most=most, above_least=above_zero)
    return None if seconds is None else timedelta(seconds=seconds)


def _refuse_both(fields: Fields, first: str, second: str) -> None:
    if fields.given(first) and fields.given(second):
        for name, other in ((first, second), (second, first)):
            fields.wrong(name, "conflict", f"must not be given together with {shown_name(other)}")


def _parse_text(text: str) -> datetime:
    match = _RFC3339.fullmatch(text.strip(" "))
    if match is None:
        raise Invalid("not_a_time", "must be an RFC 3339 time such as 2030-01-31T08:00:00Z")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    microsecond = int((match[7] or "0").ljust(6, "0")[:6])
    # RFC 3339 §5.7 allows a leap second, `datetime` does not: taken as the full minute that follows.
    leap, second = (1, 59) if second == 60 else (0, second)
    whole = datetime(year, month, day, hour, minute, second, microsecond, tzinfo=_offset(match))
    return whole + timedelta(seconds=leap)


def _offset(match: re.Match[str]) -> timezone | None:
    """None for a naive time, which the caller refuses with a sentence of its own."""
    if match[8]:
        return UTC
    if match[9] is None:
        return None
    hours, minutes = int(match[10]), int(match[11])
    if hours > 23 or minutes > 59:
        raise Invalid("not_a_time", "must have an offset from -23:59 to +23:59")
    length = timedelta(hours=hours, minutes=minutes)
    return timezone(length if match[9] == "+" else -length)
