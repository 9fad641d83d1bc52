from datetime import UTC, datetime, timedelta, timezone

import pytest

from notifications.providers.retry_after import parse_reset, parse_retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        ("7", 7),
        (" 120 ", 120),
        ("1.5", 1.5),
        ("3600", 3600),
        ("3601", 3600),
        ("9" * 5000, 3600),
        ("-1", None),
        ("NaN", None),
        ("1e3", None),
        ("١٢", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
        ("Sunday, 01-Mar-26 12:00:30 GMT", 30),
        ("Sun Mar  1 12:00:30 2026", 30),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Tue, 01 Mar 2033 12:00:00 GMT", 3600),
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30),
        ("Sun, 99 Mar 2026 12:00:30 GMT", None),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
    ],
)
def test_retry_after__header_value__is_bounded_seconds_or_nothing(value, expected):
    assert parse_retry_after(value, answered_at=None, now=NOW) == expected


def test_retry_after__date_of_a_vendor_whose_clock_is_wrong__counts_from_the_answers_own_date():
    wait = parse_retry_after(
        "Sun, 01 Mar 2026 15:00:45 GMT", answered_at="Sun, 01 Mar 2026 15:00:00 GMT", now=NOW - timedelta(days=3)
    )

    assert wait == 45


@pytest.mark.parametrize("answered_at", ["", "never", "\xff\xfe"])
def test_retry_after__date_of_the_answer_is_unreadable__counts_from_now(answered_at):
    assert parse_retry_after("Sun, 01 Mar 2026 12:00:45 GMT", answered_at=answered_at, now=NOW) == 45


def test_retry_after__now_in_another_zone__is_the_same_instant():
    now = NOW.astimezone(timezone(timedelta(hours=5)))

    assert parse_retry_after("Sun, 01 Mar 2026 12:00:10 GMT", answered_at=None, now=now) == 10


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (str(int(NOW.timestamp()) + 30), 30),
        (str(int(NOW.timestamp()) - 30), 0),
        (str(int(NOW.timestamp()) + 99_999), 3600),
        ("12", 12),
        ("-1", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_reset__header_value__is_bounded_seconds_or_nothing(value, expected):
    assert parse_reset(value, answered_at=None, now=NOW) == expected


def test_reset__vendors_clock_is_ahead__counts_by_the_vendors_clock():
    vendors = NOW + timedelta(hours=1)
    value = str(int(vendors.timestamp()) + 20)

    assert parse_reset(value, answered_at="Sun, 01 Mar 2026 13:00:00 GMT", now=NOW) == 20
