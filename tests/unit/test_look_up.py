"""When "no such message" is believed, and when to ask again where it is not."""

from datetime import UTC, datetime, timedelta

import pytest

from notifications.providers.base import FoundBy, Lookup
from notifications.providers.http import Answer
from notifications.providers.look_up import absent, cannot_say
from notifications.verdict import Finding, Found, Verdict
from tests.contracts.email_vendor import http_date

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LOOKUP = Lookup(FoundBy.KEY, settle_seconds=120.0, horizon_seconds=86_400.0)


def asked_at(age_seconds, *, date=None, now=NOW):
    headers = {"date": http_date(now) if date is None else date}
    since = now - timedelta(seconds=age_seconds)
    return absent(Answer(200, headers, b"{}"), LOOKUP, since=since, believed_after_seconds=3600.0)


@pytest.mark.parametrize(
    ("age_seconds", "again_seconds"),
    [(-300, 30), (0, 30), (20, 30), (120, 120), (240, 240), (1000, 1000), (2000, 1600), (3590, 30)],
)
def test_absent__too_early__is_asked_again_at_twice_the_age_or_when_it_is_believed(age_seconds, again_seconds):
    finding = asked_at(age_seconds)

    assert (finding.found, finding.error_code) == (Found.UNKNOWN, "not_listed_yet")
    assert finding.retry_after_seconds == again_seconds


@pytest.mark.parametrize("age_seconds", [3600, 86_400])
def test_absent__between_the_two_limits__is_believed(age_seconds):
    assert asked_at(age_seconds) == Finding.absent()


def test_absent__beyond_the_horizon__is_not_believed():
    assert asked_at(86_401).error_code == "no_longer_listed"


@pytest.mark.parametrize("date", ["", "soon", "Sun, 99 Mar 2026 12:00:30 GMT"])
def test_absent__no_readable_date__counts_by_our_clock(date):
    now = datetime.now(UTC)

    assert asked_at(60, date=date, now=now).error_code == "not_listed_yet"
    assert asked_at(4000, date=date, now=now) == Finding.absent()


def test_cannot_say__trouble_on_the_way__keeps_its_name():
    finding = cannot_say(Verdict.temporary("connect_refused", "no connection could be made"))

    assert (finding.found, finding.error_code) == (Found.UNKNOWN, "connect_refused")


@pytest.mark.parametrize(("status", "code"), [(200, "unclear_answer"), (404, "http_404"), (503, "http_503")])
def test_cannot_say__answer__keeps_its_status_and_the_wish_to_wait(status, code):
    finding = cannot_say(Answer(status, {}, b"", 7.0 if status == 503 else None))

    assert (finding.found, finding.error_code) == (Found.UNKNOWN, code)
    assert finding.retry_after_seconds == (7.0 if status == 503 else None)
