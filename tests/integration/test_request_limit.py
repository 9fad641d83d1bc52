"""The limit on the requests of a key."""

import dataclasses

import pytest
from django.db import connection

from ratelimits.models import RequestMeter
from ratelimits.requests import Allowance, count_request
from tests.support.api import Caller, email, fields_of
from tests.support.rivals import run_together

pytestmark = pytest.mark.django_db

HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture
def per_minute(settings):
    def set_to(count):
        settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, requests_per_key_per_minute=count)

    return set_to


def drain(seconds):
    """Let so much time have passed for the meters."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ratelimits_requestmeter SET empty_at = empty_at - %s * interval '1 second'", [seconds])


def test_requests__no_limit_is_set__are_not_counted(caller):
    response = caller.get()

    assert response.status_code == 200
    assert not [name for name in HEADERS if name in response]
    assert not RequestMeter.objects.exists()


def test_requests__within_the_limit__show_what_is_left(caller, per_minute):
    per_minute(3)

    shown = [caller.get() for _ in range(3)]

    assert [r.status_code for r in shown] == [200, 200, 200]
    assert [[r[name] for name in HEADERS[:2]] for r in shown] == [["3", "2"], ["3", "1"], ["3", "0"]]
    assert 55 <= int(shown[2]["RateLimit-Reset"]) <= 60
    assert "Retry-After" not in shown[2]


def test_requests__over_the_limit__are_refused_and_nothing_is_stored(caller, per_minute):
    per_minute(2)
    caller.get()
    caller.get()

    refused = [caller.post(body=email()) for _ in range(3)]

    for response in refused:
        assert response.status_code == 429
        assert fields_of(response) == []
        assert response["RateLimit-Remaining"] == "0"
        assert 25 <= int(response["Retry-After"]) <= 30
    drain(30)
    assert caller.post(body=email()).status_code == 201  # refusals have not pushed the time back
    assert caller.post(body=email()).status_code == 429


def test_requests__refused_for_another_reason__count_and_show_the_headers(caller, per_minute):
    per_minute(10)
    answers = [
        caller.post(body=b"{"),
        caller.get("/api/v1/notifications/00000000-0000-0000-0000-000000000000"),
        caller.request("PUT", "/api/v1/notifications"),
        Caller(key=caller.key).get("/api/v1/pauses"),
    ]

    assert [r.status_code for r in answers] == [400, 404, 405, 403]
    assert [r["RateLimit-Remaining"] for r in answers] == ["9", "8", "7", "6"]


def test_requests__of_another_key__have_a_limit_of_their_own(caller, per_minute):
    per_minute(1)
    caller.get()

    assert caller.get().status_code == 429
    assert Caller().get().status_code == 200


def test_requests__without_a_valid_key__are_not_counted(client, per_minute):
    per_minute(1)

    assert [client.get("/api/v1/notifications").status_code for _ in range(3)] == [401, 401, 401]
    assert not RequestMeter.objects.exists()


def test_requests__after_a_quiet_minute__are_all_there_again(caller, per_minute):
    per_minute(3)
    for _ in range(4):
        caller.get()
    drain(120)

    assert [caller.get().status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.parametrize(
    ("full_seconds", "remaining", "retry_after_seconds"), [(0.0, 60, 1), (1.0, 59, 1), (59.5, 0, 1), (60.0, 0, 1)]
)
def test_allowance__figures__are_whole_and_err_to_the_safe_side(full_seconds, remaining, retry_after_seconds):
    allowance = Allowance(60, full_seconds, allowed=False)

    assert (allowance.remaining, allowance.retry_after_seconds) == (remaining, retry_after_seconds)


@pytest.mark.django_db(transaction=True)
def test_requests__of_one_key_at_once__no_more_than_the_limit_are_let_through(caller):
    allowed = run_together([lambda: [count_request(caller.key.pk, 20).allowed for _ in range(10)] for _ in range(4)])

    # The meter drains by one every three seconds, which a slow machine may take.
    assert 20 <= sum(map(sum, allowed)) <= 22
